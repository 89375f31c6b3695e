-- How many charges and how many matches' payouts wait for the settlement server.
select
  (select count(*) from seat where status = 'pending'),
  (select count(*) from match where money = 'due')
