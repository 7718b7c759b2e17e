-- What the spreadsheet asks of customers.db. The macro runs these two as they are, by position.

-- sheet "Customers"
SELECT no, name, email, phone, street, zip, city, since, mail, records
  FROM customers
 ORDER BY no;

-- sheet "Where from": the number is in cell B1
SELECT field, record, header, raw
  FROM origins
 WHERE no = :no
 ORDER BY field, record, header;
