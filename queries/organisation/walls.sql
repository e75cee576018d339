-- Triggers, row-level security and rights of people. `graphmem organisation found` runs this once, after `people.sql` and `rules.sql`.

-- Only the owner can give a number, so only its own functions pass by.
CREATE TRIGGER take_op BEFORE INSERT ON graphmem.op FOR EACH ROW WHEN (NEW.seq IS NULL) EXECUTE FUNCTION graphmem.take_op();

CREATE TRIGGER take_comment BEFORE INSERT ON graphmem.comment FOR EACH ROW EXECUTE FUNCTION graphmem.take_comment();

-- ---- who may see and write which rows

ALTER TABLE graphmem.project ENABLE ROW LEVEL SECURITY;
ALTER TABLE graphmem.op ENABLE ROW LEVEL SECURITY;
ALTER TABLE graphmem.person ENABLE ROW LEVEL SECURITY;
ALTER TABLE graphmem.team ENABLE ROW LEVEL SECURITY;
ALTER TABLE graphmem.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE graphmem.access ENABLE ROW LEVEL SECURITY;
ALTER TABLE graphmem.memory ENABLE ROW LEVEL SECURITY;
ALTER TABLE graphmem.comment ENABLE ROW LEVEL SECURITY;
ALTER TABLE graphmem.audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE graphmem.seen ENABLE ROW LEVEL SECURITY;
CREATE POLICY sees ON graphmem.project FOR SELECT
  USING (key = ANY ((SELECT graphmem.my_projects(1))::text[]) OR (SELECT graphmem.is_admin()));
CREATE POLICY sees ON graphmem.person FOR SELECT USING ((SELECT graphmem.me()) IS NOT NULL);
CREATE POLICY sees ON graphmem.team FOR SELECT USING ((SELECT graphmem.me()) IS NOT NULL);
CREATE POLICY sees ON graphmem.member FOR SELECT USING ((SELECT graphmem.me()) IS NOT NULL);
CREATE POLICY sees ON graphmem.access FOR SELECT
  USING (project = ANY ((SELECT graphmem.my_projects(1))::text[]) OR (SELECT graphmem.is_admin()));
-- The same rule as `graphmem.sees`, spelled with one call a statement instead of one a row.
CREATE POLICY sees ON graphmem.memory FOR SELECT USING (
  (SELECT graphmem.me()) IS NOT NULL AND (visibility = 'organization' OR project = ANY ((SELECT graphmem.my_projects(1))::text[])
  AND (owner = (SELECT graphmem.me()) OR visibility = 'project'
       OR visibility = 'team' AND team = ANY ((SELECT graphmem.my_teams())::int[]))));
CREATE POLICY sees ON graphmem.op FOR SELECT
  USING (EXISTS (SELECT FROM graphmem.memory AS m WHERE m.project = op.project AND m.id = op.memory));
CREATE POLICY writes ON graphmem.op FOR INSERT WITH CHECK (author = (SELECT graphmem.me()) AND graphmem.may_write(project, memory));
CREATE POLICY sees ON graphmem.comment FOR SELECT
  USING (EXISTS (SELECT FROM graphmem.memory AS m WHERE m.project = comment.project AND m.id = comment.memory));
CREATE POLICY writes ON graphmem.comment FOR INSERT WITH CHECK (author = (SELECT graphmem.me()) AND graphmem.may_write(project, memory));
CREATE POLICY sees ON graphmem.audit FOR SELECT
  USING ((SELECT graphmem.is_admin()) OR (SELECT graphmem.me()) IS NOT NULL AND person = (SELECT graphmem.my_name()));
CREATE POLICY sees ON graphmem.seen FOR SELECT USING ((SELECT graphmem.is_admin()) OR person = (SELECT graphmem.me()));

-- ---- what existed before, and rights

INSERT INTO graphmem.memory (project, id, visibility)
  SELECT DISTINCT ON (project, memory) project, memory,
    CASE convert_from(body, 'UTF8')::jsonb #>> '{set,visibility,0}' WHEN 'organization' THEN 'organization' ELSE 'project' END
  FROM graphmem.op WHERE memory <> '' AND body <> '{}'::bytea
  ORDER BY project, memory, (convert_from(body, 'UTF8')::jsonb #> '{set,visibility}') IS NULL, seq DESC;

UPDATE graphmem.op SET words = sha256(convert_to(convert_from(body, 'UTF8')::jsonb #>> '{set,text,0,0}', 'UTF8')) WHERE body <> '{}'::bytea;

DO $$
DECLARE one record;
BEGIN  -- rights that were given before there were people
  FOR one IN SELECT c.oid::regclass AS name, pg_get_userbyid(a.grantee) AS grantee, a.grantee AS id
    FROM pg_class c, aclexplode(c.relacl) a WHERE c.relnamespace = 'graphmem'::regnamespace AND a.grantee <> c.relowner LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', one.name, CASE WHEN one.id = 0 THEN 'PUBLIC' ELSE quote_ident(one.grantee) END);
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA graphmem FROM PUBLIC;
GRANT USAGE ON SCHEMA graphmem TO PUBLIC;  -- who is not a person of the organisation sees no row
GRANT SELECT ON graphmem.about, graphmem.project, graphmem.op, graphmem.person, graphmem.team, graphmem.member, graphmem.access,
  graphmem.memory, graphmem.comment, graphmem.audit, graphmem.seen TO PUBLIC;
GRANT INSERT (project, id, device, memory, body) ON graphmem.op TO PUBLIC;
GRANT INSERT (project, memory, parent, text) ON graphmem.comment TO PUBLIC;
UPDATE graphmem.about SET schema = 2;
