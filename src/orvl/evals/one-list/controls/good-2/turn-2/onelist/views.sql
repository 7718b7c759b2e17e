DROP VIEW IF EXISTS origins;
DROP VIEW IF EXISTS customers;
DROP VIEW IF EXISTS chosen;
DROP VIEW IF EXISTS candidate;
DROP VIEW IF EXISTS link;

-- two records that are one customer
CREATE VIEW link (a, b) AS
WITH free AS (SELECT record, mark FROM mark WHERE record NOT IN (SELECT record FROM decision WHERE kind = 'alone'))
SELECT one.record, other.record FROM free AS one JOIN free AS other USING (mark)
UNION ALL
SELECT one.record, other.record
  FROM decision AS one JOIN decision AS other USING (line)
 WHERE one.kind = 'same'
   AND one.record IN (SELECT record FROM entry)
   AND other.record IN (SELECT record FROM entry);

-- every statement about a customer, the best first; an address goes by its street
CREATE VIEW candidate AS
SELECT member.no, said.record, said.field, said.value,
       row_number() OVER (
           PARTITION BY member.no, said.field
           ORDER BY CASE
                        WHEN said.field = 'name' THEN instr(said.value, ' ') = 0
                        WHEN said.field = 'since' THEN said.value
                        WHEN said.field = 'mail' THEN said.value = 'yes'
                        ELSE 0
                    END,
                    entry.changed DESC,
                    CASE entry.source WHEN 'shop' THEN 1 WHEN 'till' THEN 2 ELSE 3 END,
                    number.no
       ) AS place
  FROM statement AS said
  JOIN member USING (record)
  JOIN entry USING (record)
  JOIN number USING (record);

CREATE VIEW chosen AS
SELECT no, record, field, value FROM candidate WHERE place = 1 AND field NOT IN ('zip', 'city')
UNION ALL
SELECT candidate.no, candidate.record, rest.field, rest.value
  FROM candidate JOIN statement AS rest USING (record)
 WHERE candidate.field = 'street' AND candidate.place = 1 AND rest.field IN ('zip', 'city');

CREATE VIEW customers AS
SELECT member.no, cells.name, cells.email, cells.phone, cells.street, cells.zip, cells.city, cells.since, cells.mail,
       group_concat(member.record, ' ') AS records
  FROM member
  LEFT JOIN (
           SELECT no,
                  max(CASE field WHEN 'name' THEN value END) AS name,
                  max(CASE field WHEN 'email' THEN value END) AS email,
                  max(CASE field WHEN 'phone' THEN value END) AS phone,
                  max(CASE field WHEN 'street' THEN value END) AS street,
                  max(CASE field WHEN 'zip' THEN value END) AS zip,
                  max(CASE field WHEN 'city' THEN value END) AS city,
                  max(CASE field WHEN 'since' THEN value END) AS since,
                  max(CASE field WHEN 'mail' THEN value END) AS mail
             FROM chosen
            GROUP BY no
       ) AS cells USING (no)
 GROUP BY member.no;

CREATE VIEW origins AS
SELECT chosen.no, chosen.field, chosen.record, made_from.header, made_from.raw
  FROM chosen JOIN made_from USING (record, field);
