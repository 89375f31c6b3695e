-- The theme of a partner's frames, a row for each environment once one has been written.

create table theme (
  partner_id text not null,
  environment text not null check (environment in ('test', 'live')),
  display_name text not null,
  primary_color text not null,
  background_color text not null,
  text_color text not null,
  corner_radius bigint not null,
  show_amounts bigint not null check (show_amounts in (0, 1)),
  logo_mime text,
  logo_sha256 text,
  logo_size bigint,
  logo_base64 text,
  revision bigint not null,
  updated_at bigint not null,
  primary key (partner_id, environment)
);
