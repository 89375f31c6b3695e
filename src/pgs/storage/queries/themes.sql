-- Themes. The content of a logo is read only where it is served or shown.

-- name: find_theme^
select display_name, primary_color, background_color, text_color, corner_radius, show_amounts,
  logo_mime, logo_sha256, logo_size, revision, updated_at
from theme where partner_id = :partner_id and environment = :environment;

-- name: find_logo^
select logo_mime, logo_sha256, logo_base64
from theme where partner_id = :partner_id and environment = :environment;

-- name: put_theme!
insert into theme (partner_id, environment, display_name, primary_color, background_color,
  text_color, corner_radius, show_amounts, logo_mime, logo_sha256, logo_size, logo_base64, revision,
  updated_at)
values (:partner_id, :environment, :display_name, :primary_color, :background_color, :text_color,
  :corner_radius, :show_amounts, :logo_mime, :logo_sha256, :logo_size, :logo_base64, :revision,
  :updated_at)
on conflict (partner_id, environment) do update
set display_name = excluded.display_name, primary_color = excluded.primary_color,
  background_color = excluded.background_color, text_color = excluded.text_color,
  corner_radius = excluded.corner_radius, show_amounts = excluded.show_amounts,
  logo_mime = excluded.logo_mime, logo_sha256 = excluded.logo_sha256,
  logo_size = excluded.logo_size, logo_base64 = excluded.logo_base64,
  revision = excluded.revision, updated_at = excluded.updated_at
where theme.revision = excluded.revision - 1;
