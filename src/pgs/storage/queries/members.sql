-- Members of accounts. Columns are selected in the order of the fields in pgs.domain.members.

-- name: members
select partner_id, uid, email, role, joined_at from member order by partner_id, joined_at, uid;

-- name: members_of
select partner_id, uid, email, role, joined_at
from member where partner_id = :partner_id order by joined_at, uid;

-- name: find_account_of^
select partner_id from member_index where uid = :uid;

-- name: insert_member!
insert into member (partner_id, uid, email, role, joined_at)
values (:partner_id, :uid, :email, :role, :joined_at);

-- name: insert_member_index!
insert into member_index (uid, partner_id) values (:uid, :partner_id);

-- name: set_role!
update member set role = :role where partner_id = :partner_id and uid = :uid;

-- name: delete_member!
delete from member where partner_id = :partner_id and uid = :uid;

-- name: delete_member_index!
delete from member_index where uid = :uid and partner_id = :partner_id;
