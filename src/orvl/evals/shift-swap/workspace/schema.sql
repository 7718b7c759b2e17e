-- Café Anker. Times as in the app: 2031-05-03T08:00

create table if not exists shifts (
  id integer primary key autoincrement,
  starts text not null,
  ends text not null,
  staff text                          -- an id of staff.json; null: nobody has it yet
);

create table if not exists swaps (
  id integer primary key autoincrement,
  shift integer not null,
  asked_by text not null,             -- "from" in the app
  asked_of text not null,             -- "to" in the app
  in_return integer,                  -- "for" in the app
  state text not null default 'asked'
);
