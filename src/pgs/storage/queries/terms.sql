-- All versions of the rake terms.

-- name: newest_terms^
select version, text, published_at from terms order by version desc limit 1;

-- name: insert_terms!
insert into terms (version, text, published_at) values (:version, :text, :published_at);

-- name: ship_terms!
insert into terms (version, text, published_at) select 1, :text, 0
where not exists (select 1 from terms);
