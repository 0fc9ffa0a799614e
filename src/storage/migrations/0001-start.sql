-- Configuration: every collection in one table of documents.
create table document (
  collection text collate "C" not null,
  key text collate "C" not null,
  id text collate "C" not null unique,
  revision bigint not null,
  body jsonb not null,
  primary key (collection, key)
);
create table reference (
  collection text collate "C" not null,
  key text collate "C" not null,
  to_collection text collate "C" not null,
  to_key text collate "C" not null,
  primary key (collection, key, to_collection, to_key),
  foreign key (collection, key) references document on delete cascade,
  foreign key (to_collection, to_key) references document
);
create index reference_to on reference (to_collection, to_key);

-- Counts the writes to documents, by whomever: a process asks for it to know whether what it remembers is still true.
create table document_head (revision bigint not null);
insert into document_head values (0);
create function document_written() returns trigger language plpgsql as $$
begin
  update document_head set revision = revision + 1;
  return null;
end $$;
create trigger document_written after insert or update or delete or truncate on document for each statement execute function document_written();

-- Requests and what they led to.
create table request (
  id text collate "C" primary key,
  revision bigint not null,
  module text collate "C" not null,
  workflow text collate "C" not null,
  status text collate "C" not null,
  profile text collate "C" not null,
  profile_revision bigint not null,
  requester text collate "C",
  owner text collate "C",
  team text collate "C",
  contact text collate "C",
  approver text collate "C",
  requester_comment text,
  approver_comment text,
  registration_date bigint not null,
  last_modification_date bigint not null,
  expiration_date bigint not null,
  remove_at bigint not null,
  dn text,
  holder_id text collate "C",
  labels jsonb not null,
  metadata jsonb not null,
  template jsonb not null,
  certificate_id text collate "C",
  error text
);
create index request_profile on request (profile, id);
create index request_holder on request (holder_id);
-- What is decided and not yet done: the reconciler reads it.
create index request_approved on request (last_modification_date) where status = 'approved';

-- Every signature of an authority of our own, written before it is made.
create table issuance (
  authority text collate "C" not null,
  serial text collate "C" not null,
  request_id text collate "C" not null unique,
  connector text collate "C" not null,
  tbs bytea not null,
  tbs_hash text collate "C" not null,
  at bigint not null,
  primary key (authority, serial)
);

create table certificate (
  id text collate "C" primary key,
  revision bigint not null,
  module text collate "C" not null,
  profile text collate "C",
  owner text collate "C",
  team text collate "C",
  contact_email text collate "C",
  der bytea not null,
  thumbprint text collate "C" not null unique,
  public_key_thumbprint text collate "C" not null,
  dn text collate "C" not null,
  issuer text collate "C" not null,
  serial text collate "C" not null,
  not_before bigint not null,
  not_after bigint not null,
  key_type text collate "C" not null,
  primary_key_type text collate "C" generated always as (split_part(key_type, '+', 1)) stored,
  alternate_key_type text collate "C" generated always as (nullif(split_part(key_type, '+', 2), '')) stored,
  signing_algorithm text collate "C" not null,
  self_signed boolean not null,
  sans text[] not null,
  subject_alternate_names jsonb not null,
  extensions jsonb not null,
  holder_id text collate "C" not null,
  labels jsonb not null,
  metadata jsonb not null,
  revocation_date bigint,
  revocation_reason text collate "C",
  escrowed boolean not null,
  discovered_trusted boolean,
  remove_at bigint
);
create index certificate_profile on certificate (profile, id);
create index certificate_holder on certificate (holder_id);
create index certificate_serial on certificate (serial);
create index certificate_not_after on certificate (not_after);
create index certificate_owner on certificate (owner) where owner is not null;

-- The audit trail. Events wait in event_pending; the sealer moves them into event, numbered and chained. Neither is ever updated.
create table event_pending (
  position bigint generated always as identity primary key,
  id text collate "C" not null unique,
  code text collate "C" not null,
  module text collate "C" not null,
  node text not null,
  status text collate "C" not null,
  at bigint not null,
  details jsonb not null,
  mac text not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);
create table event (
  number bigint primary key,
  id text collate "C" not null unique,
  code text collate "C" not null,
  module text collate "C" not null,
  node text not null,
  status text collate "C" not null,
  at bigint not null,
  details jsonb not null,
  seal text not null
);
create index event_at on event (at, id);
create index event_code on event (code, at, id);
create index event_details on event using gin (details jsonb_path_ops);
create view event_all as
  select id, code, module, node, status, at, details, null::bigint as remove_at, seal from event
  union all
  select id, code, module, node, status, at, details, null, null from event_pending;
-- The last sealed event; one row, itself sealed.
create table event_head (
  one boolean primary key default true check (one),
  number bigint not null,
  seal text not null,
  mac text not null
);
create table integrity_report (
  id text collate "C" primary key,
  status text collate "C" not null,
  body jsonb not null,
  seal text not null,
  -- Until then the check belongs to the process that is at it.
  lease_until bigint not null
);
