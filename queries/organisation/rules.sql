-- The functions and triggers' bodies that decide who may do what. `graphmem organisation found` runs this again if the database has an
-- earlier version, so it may contain only statements that can be repeated.

-- Version of this file: raise it with every change, here and in `graphmem.sharing.postgres.RULES`.
CREATE OR REPLACE FUNCTION graphmem.rules() RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT 2 $$;

-- ---- who asks

CREATE OR REPLACE FUNCTION graphmem.me() RETURNS int LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$ SELECT id FROM graphmem.person WHERE role = session_user AND disabled IS NULL $$;

CREATE OR REPLACE FUNCTION graphmem.is_owner() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$ SELECT pg_get_userbyid(relowner) = session_user FROM pg_class WHERE oid = 'graphmem.about'::regclass $$;

CREATE OR REPLACE FUNCTION graphmem.is_admin() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$ SELECT graphmem.is_owner() OR EXISTS (SELECT FROM graphmem.person WHERE id = graphmem.me() AND is_admin) $$;

CREATE OR REPLACE FUNCTION graphmem.my_name() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$ SELECT coalesce((SELECT name FROM graphmem.person WHERE id = graphmem.me()), 'the owner of the database') $$;

CREATE OR REPLACE FUNCTION graphmem.my_teams() RETURNS int[] LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$ SELECT coalesce(array_agg(team), '{}') FROM graphmem.member WHERE person = graphmem.me() $$;

CREATE OR REPLACE FUNCTION graphmem.my_projects(lowest int) RETURNS text[] LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$ SELECT coalesce(array_agg(DISTINCT project), '{}') FROM graphmem.access
   WHERE level >= lowest AND (person = graphmem.me() OR team = ANY (graphmem.my_teams())) $$;

CREATE OR REPLACE FUNCTION graphmem.my_level(of_project text) RETURNS int LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$ SELECT coalesce(max(level), 0) FROM graphmem.access
   WHERE project = of_project AND (person = graphmem.me() OR team = ANY (graphmem.my_teams())) $$;

CREATE OR REPLACE FUNCTION graphmem.sees(m graphmem.memory) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS
$$ SELECT graphmem.me() IS NOT NULL AND (m.visibility = 'organization' OR m.project = ANY (graphmem.my_projects(1))
   AND (m.owner = graphmem.me() OR m.visibility = 'project' OR m.visibility = 'team' AND m.team = ANY (graphmem.my_teams()))) $$;

-- Volatile: it must see the memory that a trigger of the same statement has made.
CREATE OR REPLACE FUNCTION graphmem.may_write(of_project text, of_memory text) RETURNS boolean LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS
$$ SELECT of_project = ANY (graphmem.my_projects(2))
   AND EXISTS (SELECT FROM graphmem.memory AS m WHERE m.project = of_project AND m.id = of_memory AND graphmem.sees(m)) $$;

CREATE OR REPLACE FUNCTION graphmem.refuse(said text) RETURNS void LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION USING ERRCODE = 'GM001', MESSAGE = said; END $$;

-- Whether the log has an operation, even one that the caller does not see. So a machine can tell hidden operations from lost ones.
CREATE OR REPLACE FUNCTION graphmem.has_op(of_project text, number bigint, of_id uuid) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS
$$ SELECT graphmem.me() IS NOT NULL AND EXISTS (SELECT FROM graphmem.op WHERE project = of_project AND seq = number AND id = of_id) $$;

-- ---- operations on memories

CREATE OR REPLACE FUNCTION graphmem.without_words(body bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE b jsonb; field text;
BEGIN
  BEGIN
    b := convert_from(body, 'UTF8')::jsonb;
    FOREACH field IN ARRAY ARRAY['text', 'title', 'details', 'work_unit'] LOOP
      IF b->'set' ? field THEN b := jsonb_set(b, ARRAY['set', field, '0'], 'null'); END IF;
    END LOOP;
    RETURN convert_to((b - 'add' - 'drop')::text, 'UTF8');
  EXCEPTION WHEN data_exception THEN RETURN '{}'::bytea;  -- unreadable, so it may contain the words
  END;
END $$;

-- Gives an operation its number, its author and, for a new memory, its owner and team. People cannot set these columns.
CREATE OR REPLACE FUNCTION graphmem.take_op() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  b jsonb; m graphmem.memory; source graphmem.memory; quoted graphmem.op; earlier graphmem.op; who int := graphmem.me(); mine int; vis text; of_team int;
  shown text := graphmem.my_name(); of_owner int := who; number bigint; teams int[]; wanted text;
BEGIN
  IF who IS NULL THEN PERFORM graphmem.refuse('only a person of the organisation may write; run `graphmem organisation invite`'); END IF;
  mine := graphmem.my_level(NEW.project);
  IF mine < 2 THEN PERFORM graphmem.refuse('your role in this project does not allow writing'); END IF;
  IF length(NEW.body) > 1048576 THEN PERFORM graphmem.refuse('an operation has more than 1 MiB'); END IF;
  BEGIN
    b := convert_from(NEW.body, 'UTF8')::jsonb;
  EXCEPTION WHEN data_exception THEN PERFORM graphmem.refuse('an operation is not JSON');
  END;
  IF b->'v' IS DISTINCT FROM '1' THEN PERFORM graphmem.refuse('an operation has another version than the database; update graphmem'); END IF;
  IF b->>'id' IS DISTINCT FROM NEW.id::text OR b->>'memory' IS DISTINCT FROM NEW.memory OR b->>'device' IS DISTINCT FROM NEW.device THEN
    PERFORM graphmem.refuse('an operation contradicts its columns');
  END IF;
  SELECT head + 1 INTO number FROM graphmem.project WHERE key = NEW.project FOR UPDATE;
  IF EXISTS (SELECT FROM graphmem.op WHERE project = NEW.project AND id = NEW.id) THEN RETURN NULL; END IF;
  NEW.words := sha256(convert_to(b #>> '{set,text,0,0}', 'UTF8'));
  SELECT * INTO m FROM graphmem.memory WHERE project = NEW.project AND id = NEW.memory;
  vis := b #>> '{set,visibility,0}';
  IF m.id IS NULL THEN
    vis := coalesce(vis, 'project');
    IF b ? 'of' THEN  -- a copy of a text that somebody else wrote at the same time; its author keeps it
      SELECT * INTO quoted FROM graphmem.op WHERE project = NEW.project AND id = (b->>'of')::uuid;
      LOOP  -- it may itself repeat a text that its writer had seen
        SELECT * INTO earlier FROM graphmem.op AS o WHERE o.project = NEW.project AND o.memory = quoted.memory AND o.seq < quoted.seq
          AND convert_from(quoted.body, 'UTF8')::jsonb #> '{set,text,1}' ? o.id::text
          AND convert_from(o.body, 'UTF8')::jsonb #> '{set,text,0}' = b #> '{set,text,0}' LIMIT 1;
        EXIT WHEN earlier.id IS NULL;
        quoted := earlier;
      END LOOP;
      SELECT * INTO source FROM graphmem.memory WHERE project = NEW.project AND id = quoted.memory;
      IF source.id IS NOT NULL AND graphmem.sees(source)
         AND convert_from(quoted.body, 'UTF8')::jsonb #> '{set,text,0}' = b #> '{set,text,0}'
         AND NOT EXISTS (SELECT FROM jsonb_each(b->'set') AS one WHERE one.value->2 IS DISTINCT FROM 'true') THEN
        shown := quoted.person;
        of_owner := coalesce(quoted.author, who);
        vis := source.visibility;
        of_team := source.team;
      END IF;
    END IF;
    IF vis = 'team' AND of_team IS NULL THEN
      wanted := coalesce(current_setting('graphmem.team', true), '');
      SELECT array_agg(DISTINCT a.team) INTO teams FROM graphmem.access a JOIN graphmem.team t ON t.id = a.team
        WHERE a.project = NEW.project AND a.team = ANY (graphmem.my_teams()) AND (wanted = '' OR t.name = wanted);
      IF coalesce(cardinality(teams), 0) <> 1 THEN
        PERFORM graphmem.refuse('a memory of a team needs one team of yours in this project; name it with GRAPHMEM_SYNC_TEAM');
      END IF;
      of_team := teams[1];
    END IF;
    IF b #>> '{set,status,0,0}' = 'superseded' AND vis <> 'personal' THEN
      -- An edit makes a memory of the earlier text, on the machine of the editor. Its author owns it, if the same people see both.
      SELECT o.author INTO of_owner FROM graphmem.op AS o JOIN graphmem.memory AS k ON k.project = o.project AND k.id = o.memory
        WHERE o.project = NEW.project AND o.words = NEW.words AND k.visibility = vis AND k.team IS NOT DISTINCT FROM of_team
          AND o.author IS NOT NULL ORDER BY o.seq LIMIT 1;
      of_owner := coalesce(of_owner, who);
    END IF;
    INSERT INTO graphmem.memory VALUES (NEW.project, NEW.memory, of_owner, vis, of_team);
  ELSE
    IF NOT graphmem.sees(m) THEN PERFORM graphmem.refuse('this memory is not shared with you'); END IF;
    IF vis <> m.visibility THEN
      IF m.owner IS DISTINCT FROM who AND mine < 3 THEN
        PERFORM graphmem.refuse('only its owner or a curator may change who sees a memory');
      END IF;
      IF vis = 'team' THEN
        SELECT array_agg(DISTINCT team) INTO teams FROM graphmem.access
          WHERE project = NEW.project AND team = ANY (graphmem.my_teams());
        of_team := CASE WHEN m.team = ANY (graphmem.my_teams()) THEN m.team WHEN cardinality(teams) = 1 THEN teams[1] END;
        IF of_team IS NULL THEN PERFORM graphmem.refuse('a memory of a team needs one team of yours in this project'); END IF;
      END IF;
      UPDATE graphmem.memory SET visibility = vis, team = coalesce(of_team, team) WHERE project = m.project AND id = m.id;
      UPDATE graphmem.about SET sight = sight + 1;
    END IF;
    IF b ? 'forget' THEN
      IF m.owner IS DISTINCT FROM who AND mine < 3 AND (jsonb_array_length(coalesce(b->'revive', '[]')) = 0 OR EXISTS (
        SELECT FROM jsonb_array_elements_text(b->'revive') AS r(one) WHERE NOT EXISTS (
          SELECT FROM graphmem.op WHERE project = m.project AND memory = m.id AND id = r.one::uuid
            AND convert_from(body, 'UTF8')::jsonb ? 'forget'))) THEN
        PERFORM graphmem.refuse('only its owner or a curator may erase a memory');
      END IF;
      UPDATE graphmem.op SET body = graphmem.without_words(body), words = NULL WHERE project = m.project AND memory = m.id
        AND (seq <= coalesce((b->>'upto')::bigint, 0) OR id = ANY (SELECT jsonb_array_elements_text(b->'forget')::uuid));
      DELETE FROM graphmem.comment WHERE project = m.project AND memory = m.id;
      INSERT INTO graphmem.audit (person, action, target) VALUES (graphmem.my_name(), 'erase memory', m.id);
    END IF;
  END IF;
  UPDATE graphmem.project SET head = number WHERE key = NEW.project;
  NEW.seq := number;
  NEW.author := who;
  NEW.person := shown;
  NEW.body := convert_to(jsonb_set(b, '{person}', to_jsonb(shown))::text, 'UTF8');
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION graphmem.take_comment() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  NEW.author := graphmem.me();
  NEW.at := now();
  IF NEW.parent IS NOT NULL AND NOT EXISTS (
    SELECT FROM graphmem.comment WHERE id = NEW.parent AND project = NEW.project AND memory = NEW.memory) THEN
    PERFORM graphmem.refuse('unknown comment; `graphmem organisation comments` lists them');
  END IF;
  RETURN NEW;
END $$;

-- ---- what administrators do

CREATE OR REPLACE FUNCTION graphmem.note(what text, target text, details text) RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS
$$ INSERT INTO graphmem.audit (person, action, target, details) VALUES (graphmem.my_name(), what, target, details) $$;

CREATE OR REPLACE FUNCTION graphmem.person_of(login text) RETURNS int LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE found_id int;
BEGIN
  SELECT id INTO found_id FROM graphmem.person WHERE role = login;
  IF found_id IS NULL THEN PERFORM graphmem.refuse(format('unknown person %s; `graphmem organisation people` lists them', login)); END IF;
  RETURN found_id;
END $$;

CREATE OR REPLACE FUNCTION graphmem.expect_admin() RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT graphmem.is_admin() THEN PERFORM graphmem.refuse('only an administrator of the organisation may do this'); END IF;
END $$;

CREATE OR REPLACE FUNCTION graphmem.invite(login text, shown text, secret text, admin boolean) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE role_row pg_roles; makes boolean := false;
BEGIN
  PERFORM graphmem.expect_admin();
  SELECT * INTO role_row FROM pg_roles WHERE rolname = login;
  IF role_row.rolname IS NULL THEN
    EXECUTE format('CREATE ROLE %I LOGIN PASSWORD %L NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', login, secret);
    makes := true;
  ELSIF role_row.rolsuper OR role_row.rolbypassrls OR role_row.rolcreaterole
        OR pg_has_role(login::name, (SELECT relowner FROM pg_class WHERE oid = 'graphmem.about'::regclass), 'MEMBER') THEN
    PERFORM graphmem.refuse(format('the role %s passes row-level security; use a role without such rights', login));
  END IF;
  IF EXISTS (SELECT FROM graphmem.person WHERE role = login) THEN
    UPDATE graphmem.person SET is_admin = admin, disabled = NULL WHERE role = login;
  ELSE
    INSERT INTO graphmem.person (role, name, is_admin, made_role) VALUES (login, shown, admin, makes);
  END IF;
  UPDATE graphmem.about SET sight = sight + 1;
  PERFORM graphmem.note('invite', login, CASE WHEN admin THEN 'as an administrator' ELSE '' END);
  RETURN makes;
END $$;

CREATE OR REPLACE FUNCTION graphmem.enable(login text, is_on boolean) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM graphmem.expect_admin();
  UPDATE graphmem.person SET disabled = CASE WHEN is_on THEN NULL ELSE now() END WHERE id = graphmem.person_of(login);
  PERFORM graphmem.note(CASE WHEN is_on THEN 'enable' ELSE 'disable' END, login, '');
END $$;

CREATE OR REPLACE FUNCTION graphmem.set_member(of_team text, login text, standing text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE t int; p int := graphmem.person_of(login);
BEGIN
  SELECT id INTO t FROM graphmem.team WHERE name = of_team;
  IF NOT EXISTS (SELECT FROM graphmem.member WHERE team = t AND person = graphmem.me() AND is_steward) THEN
    PERFORM graphmem.expect_admin();
  ELSIF standing = 'steward' THEN
    PERFORM graphmem.expect_admin();
  END IF;
  IF t IS NULL THEN INSERT INTO graphmem.team (name) VALUES (of_team) RETURNING id INTO t; END IF;
  DELETE FROM graphmem.member WHERE team = t AND person = p;
  IF standing <> 'none' THEN INSERT INTO graphmem.member VALUES (t, p, standing = 'steward'); END IF;
  UPDATE graphmem.about SET sight = sight + 1;
  PERFORM graphmem.note('team', login, format('%s in %s', standing, of_team));
END $$;

CREATE OR REPLACE FUNCTION graphmem.set_role(of_project text, login text, of_team text, new_level int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE t int; p int;
BEGIN
  IF graphmem.my_level(of_project) < 4 THEN PERFORM graphmem.expect_admin(); END IF;
  IF of_team = '' THEN
    p := graphmem.person_of(login);
  ELSE
    SELECT id INTO t FROM graphmem.team WHERE name = of_team;
    IF t IS NULL THEN PERFORM graphmem.refuse(format('unknown team %s; `graphmem organisation people` lists them', of_team)); END IF;
  END IF;
  INSERT INTO graphmem.project (key, name) VALUES (of_project, '') ON CONFLICT DO NOTHING;
  DELETE FROM graphmem.access WHERE project = of_project AND (team = t OR person = p);
  IF new_level > 0 THEN INSERT INTO graphmem.access VALUES (of_project, t, p, new_level); END IF;
  UPDATE graphmem.about SET sight = sight + 1;
  PERFORM graphmem.note('role', coalesce(nullif(login, ''), of_team),
    format('%s in %s', (ARRAY['none', 'read', 'write', 'curate', 'admin'])[new_level + 1], of_project));
END $$;

-- Returns the caller's level in a project. An administrator's first exchange adds the project.
CREATE OR REPLACE FUNCTION graphmem.open_project(of_key text, of_name text) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE mine int := graphmem.my_level(of_key);
BEGIN
  IF graphmem.me() IS NULL THEN RETURN 0; END IF;
  IF mine = 0 AND graphmem.is_admin() AND NOT EXISTS (SELECT FROM graphmem.project WHERE key = of_key) THEN
    INSERT INTO graphmem.project (key, name) VALUES (of_key, of_name);
    INSERT INTO graphmem.access VALUES (of_key, NULL, graphmem.me(), 4);
    PERFORM graphmem.note('project', of_key, 'added');
    RETURN 4;
  END IF;
  IF mine > 0 THEN UPDATE graphmem.project SET name = of_name WHERE key = of_key AND name = '' AND of_name <> ''; END IF;
  RETURN mine;
END $$;

CREATE OR REPLACE FUNCTION graphmem.note_exchange(of_project text, of_device text, more bigint) RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS
$$ INSERT INTO graphmem.seen AS s (person, project, device, exchanges, pulled)
   SELECT graphmem.me(), of_project, of_device, 1, more WHERE of_project = ANY (graphmem.my_projects(1))
   ON CONFLICT (person, project, device) DO UPDATE SET last = now(), exchanges = s.exchanges + 1, pulled = s.pulled + more $$;

-- Everything of one person, as one JSON object a line. A person may ask for their own.
CREATE OR REPLACE FUNCTION graphmem.export_person(login text) RETURNS SETOF jsonb LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE p int := graphmem.person_of(login);
BEGIN
  IF p IS DISTINCT FROM graphmem.me() THEN PERFORM graphmem.expect_admin(); END IF;
  PERFORM graphmem.note('export person', login, '');
  RETURN QUERY
    SELECT jsonb_build_object('kind', 'person', 'row', to_jsonb(r)) FROM graphmem.person r WHERE r.id = p
    UNION ALL SELECT jsonb_build_object('kind', 'team', 'name', t.name, 'is_steward', r.is_steward)
      FROM graphmem.member r JOIN graphmem.team t ON t.id = r.team WHERE r.person = p
    UNION ALL SELECT jsonb_build_object('kind', 'role', 'row', to_jsonb(r)) FROM graphmem.access r WHERE r.person = p
    UNION ALL SELECT jsonb_build_object('kind', 'memory', 'row', to_jsonb(r)) FROM graphmem.memory r WHERE r.owner = p
    UNION ALL SELECT jsonb_build_object('kind', 'operation', 'project', r.project, 'seq', r.seq, 'at', r.at, 'author', r.person,
        'body', convert_from(r.body, 'UTF8')::jsonb) FROM graphmem.op r WHERE r.author = p
    UNION ALL SELECT jsonb_build_object('kind', 'comment', 'row', to_jsonb(r)) FROM graphmem.comment r WHERE r.author = p
    UNION ALL SELECT jsonb_build_object('kind', 'exchange', 'row', to_jsonb(r)) FROM graphmem.seen r WHERE r.person = p
    UNION ALL SELECT jsonb_build_object('kind', 'audit', 'row', to_jsonb(r)) FROM graphmem.audit r
      WHERE r.target = login OR r.person = (SELECT name FROM graphmem.person WHERE id = p);
END $$;

CREATE OR REPLACE FUNCTION graphmem.export_organisation() RETURNS SETOF jsonb LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE one text;
BEGIN
  PERFORM graphmem.expect_admin();
  PERFORM graphmem.note('export organisation', '', '');
  FOREACH one IN ARRAY ARRAY['person', 'team', 'member', 'access', 'project', 'memory', 'comment', 'seen', 'audit'] LOOP
    RETURN QUERY EXECUTE format('SELECT jsonb_build_object(''kind'', %L, ''row'', to_jsonb(r)) FROM graphmem.%I r', one, one);
  END LOOP;
  RETURN QUERY SELECT jsonb_build_object('kind', 'operation', 'project', r.project, 'seq', r.seq, 'at', r.at, 'author', r.person,
    'body', convert_from(r.body, 'UTF8')::jsonb) FROM graphmem.op r ORDER BY r.project, r.seq;
END $$;

-- Erases one person: the memories they own, for everybody; their name elsewhere; their comments, roles and login. Returns a receipt.
CREATE OR REPLACE FUNCTION graphmem.erase_person(login text) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  p graphmem.person; m graphmem.memory; ids jsonb; receipt jsonb; number bigint; one uuid; digest text; role_gone boolean := false;
  memories int := 0; authored int; comments int; named constant text := 'a former member';
BEGIN
  PERFORM graphmem.expect_admin();
  SELECT * INTO p FROM graphmem.person WHERE id = graphmem.person_of(login) FOR UPDATE;
  SELECT encode(sha256(coalesce(string_agg(id::text || encode(sha256(body), 'hex'), '' ORDER BY project, seq), '')::bytea), 'hex')
    INTO digest FROM graphmem.op r
    WHERE EXISTS (SELECT FROM graphmem.memory o WHERE o.owner = p.id AND o.project = r.project AND o.id = r.memory);
  FOR m IN SELECT * FROM graphmem.memory WHERE owner = p.id ORDER BY project, id LOOP
    SELECT head + 1 INTO number FROM graphmem.project WHERE key = m.project FOR UPDATE;
    SELECT jsonb_agg(id) INTO ids FROM graphmem.op WHERE project = m.project AND memory = m.id;
    UPDATE graphmem.op SET body = graphmem.without_words(body), words = NULL WHERE project = m.project AND memory = m.id;
    DELETE FROM graphmem.comment WHERE project = m.project AND memory = m.id;
    one := gen_random_uuid();
    INSERT INTO graphmem.op (project, seq, id, device, person, memory, body) VALUES (m.project, number, one, 'organisation', named, m.id,
      convert_to(jsonb_build_object('v', 1, 'id', one, 'device', 'organisation', 'person', named, 'memory', m.id, 'forget', coalesce(ids, '[]'),
        'hlc', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, 'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'),
        'set', '{}'::jsonb)::text, 'UTF8'));
    UPDATE graphmem.project SET head = number WHERE key = m.project;
    memories := memories + 1;
  END LOOP;
  UPDATE graphmem.memory SET owner = NULL WHERE owner = p.id;
  UPDATE graphmem.op SET author = NULL WHERE author = p.id;
  UPDATE graphmem.op SET person = named, body = convert_to(jsonb_set(convert_from(body, 'UTF8')::jsonb, '{person}', to_jsonb(named))::text, 'UTF8')
    WHERE person = p.name AND body <> '{}'::bytea;
  GET DIAGNOSTICS authored = ROW_COUNT;
  UPDATE graphmem.comment SET author = NULL, text = '(erased)' WHERE author = p.id;
  GET DIAGNOSTICS comments = ROW_COUNT;
  DELETE FROM graphmem.member WHERE person = p.id;
  DELETE FROM graphmem.access WHERE person = p.id;
  DELETE FROM graphmem.seen WHERE person = p.id;
  UPDATE graphmem.audit SET person = named WHERE person = p.name;
  UPDATE graphmem.audit SET target = named WHERE target = login;
  DELETE FROM graphmem.person WHERE id = p.id;
  IF p.made_role THEN
    BEGIN
      EXECUTE format('DROP ROLE %I', login);
      role_gone := true;
    EXCEPTION WHEN dependent_objects_still_exist OR object_in_use OR undefined_object THEN role_gone := false;
    END;
  END IF;
  UPDATE graphmem.about SET sight = sight + 1, epoch = gen_random_uuid();
  receipt := jsonb_build_object('memories', memories, 'operations', authored, 'comments', comments, 'role_dropped', role_gone,
    'at', now(), 'by', graphmem.my_name(), 'digest', digest);
  PERFORM graphmem.note('erase person', named, receipt::text);
  RETURN receipt;
END $$;

REVOKE EXECUTE ON FUNCTION graphmem.note(text, text, text), graphmem.person_of(text) FROM PUBLIC;
