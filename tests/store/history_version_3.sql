-- A history as the third version of its schema was, dumped from a file that program made out of one of the second version:
-- with an answer written anew, a fork, an answer that streams, a draft and an attempt to compact.
BEGIN TRANSACTION;
CREATE TABLE blob (
  id TEXT NOT NULL,
  mime TEXT NOT NULL,
  size INTEGER NOT NULL,
  data BLOB NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (id)
);
CREATE TABLE checkpoint (
  node_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  first_kept_message_id TEXT,
  summary TEXT NOT NULL,
  generation INTEGER NOT NULL,
  "trigger" TEXT NOT NULL,
  model TEXT,
  prompt_version TEXT,
  covered_from_id TEXT,
  covered_to_id TEXT,
  tokens_before INTEGER,
  tokens_after INTEGER,
  validation TEXT,
  duration_ms INTEGER,
  cost FLOAT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (node_id),
  FOREIGN KEY(node_id) REFERENCES node (id),
  FOREIGN KEY(first_kept_message_id) REFERENCES node (id),
  FOREIGN KEY(covered_from_id) REFERENCES node (id),
  FOREIGN KEY(covered_to_id) REFERENCES node (id)
);
CREATE TABLE compaction_run (
  id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  "trigger" TEXT NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT,
  checkpoint_id TEXT,
  refused_text TEXT,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  input_tokens INTEGER,
  output_tokens INTEGER,
  PRIMARY KEY (id),
  FOREIGN KEY(session_id) REFERENCES session (id),
  FOREIGN KEY(checkpoint_id) REFERENCES node (id)
);
INSERT INTO "compaction_run" VALUES('run-1','00000001','manual','noop',NULL,NULL,NULL,'2026-11-30T18:50:48.123Z',NULL,NULL,NULL);
CREATE TABLE draft (
  session_id TEXT NOT NULL,
  text TEXT NOT NULL,
  attachments TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (session_id)
);
INSERT INTO "draft" VALUES('00000001','a draft','[]','2025-11-30T18:51:05.123Z');
INSERT INTO "draft" VALUES('','an unsent question

a draft of a new chat','[]','2026-11-30T18:50:57.123Z');
CREATE TABLE erasure (
            session_id TEXT NOT NULL,
            node_ids TEXT NOT NULL,
            deleted_at TEXT NOT NULL,
            PRIMARY KEY (session_id)
        );
CREATE TABLE lease (
  session_id TEXT NOT NULL,
  owner TEXT NOT NULL,
  kind TEXT NOT NULL,
  heartbeat_at TEXT NOT NULL,
  acquired_at TEXT NOT NULL,
  PRIMARY KEY (session_id)
);
INSERT INTO "lease" VALUES('00000001','x in process 1 on nowhere','turn','2026-11-30T18:50:48.123Z','2026-11-30T18:50:48.123Z');
CREATE TABLE ledger_entry (
  id TEXT NOT NULL,
  session_id TEXT,
  node_id TEXT,
  kind TEXT NOT NULL,
  origin TEXT NOT NULL,
  value TEXT NOT NULL,
  supersedes_id TEXT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(session_id) REFERENCES session (id),
  FOREIGN KEY(node_id) REFERENCES node (id),
  FOREIGN KEY(supersedes_id) REFERENCES ledger_entry (id)
);
CREATE TABLE node (
  id TEXT NOT NULL,
  parent_id TEXT,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'checkpoint')),
  parts TEXT NOT NULL,
  model TEXT,
  usage TEXT,
  stop_reason TEXT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(parent_id) REFERENCES node (id)
);
INSERT INTO "node" VALUES('00000002',NULL,'user','[{"type":"text","text":"question 0","citations":[]}]',NULL,NULL,NULL,'2026-11-30T18:50:48.123Z');
INSERT INTO "node" VALUES('00000003','00000002','assistant','[{"type":"text","text":"answer 0","citations":[]}]','offline',NULL,'stop','2026-11-30T18:50:49.123Z');
INSERT INTO "node" VALUES('00000004','00000003','user','[{"type":"text","text":"question 1","citations":[]}]',NULL,NULL,NULL,'2026-11-30T18:50:50.123Z');
INSERT INTO "node" VALUES('00000005','00000004','assistant','[{"type":"text","text":"answer 1","citations":[]}]','offline',NULL,'stop','2026-11-30T18:50:51.123Z');
INSERT INTO "node" VALUES('00000006','00000005','user','[{"type":"text","text":"question 2","citations":[]}]',NULL,NULL,NULL,'2026-11-30T18:50:52.123Z');
INSERT INTO "node" VALUES('00000007','00000006','assistant','[{"type":"text","text":"answer 2","citations":[]}]','offline',NULL,'stop','2026-11-30T18:50:53.123Z');
INSERT INTO "node" VALUES('00000008','00000004','assistant','[{"type":"text","text":"answer 1, too late","citations":[]}]','offline',NULL,'stop','2026-11-30T18:50:54.123Z');
INSERT INTO "node" VALUES('00000010',NULL,'user','[{"type":"text","text":"Größe und Ångström?","citations":[]},{"type":"zotero","locator":{"kind":"item","item":"groups/555/items/HGFEDCBA"},"title":"On Distance","citation":"Okafor 2014","item":null}]',NULL,NULL,NULL,'2026-11-30T18:50:55.123Z');
INSERT INTO "node" VALUES('00000011','00000010','assistant','[{"type":"reasoning","text":"Let me look.","replay":{"id":"r1"}},{"type":"tool_call","call_id":"c1","name":"search","arguments":"{\"query\":\"distance\"}","state":"done","result":"a passage about parallax","step":0,"delivered":[{"kind":"page","attachment":"library/items/ABCDEFGH","page_index":7,"page_label":"12"}],"summary":"1 passage","duration_ms":12,"replay":{}},{"type":"tool_call","call_id":"c2","name":"read_pages","arguments":"{\"key\":\"ABCDEFGH\"}","state":"cancelled","result":"","step":0,"delivered":[],"summary":"","duration_ms":0,"replay":{}},{"type":"text","text":"See [[cite:ABCDEFGH@7]].","citations":[{"token":"[[cite:ABCDEFGH@7]]","state":"verified","short_ref":"Okafor 2014","locator":{"kind":"page","attachment":"library/items/ABCDEFGH","page_index":7,"page_label":"12"},"reason":"","quote":""}]}]','gpt','{"input_tokens":120,"output_tokens":30,"reasoning_tokens":0,"cached_tokens":0,"cache_write_tokens":0,"steps":1,"turn_input_tokens":0,"turn_output_tokens":0,"real":true,"checkpoint_id":null,"cost":null}','stop','2026-11-30T18:50:56.123Z');
INSERT INTO "node" VALUES('00000012','00000011','user','[{"type":"text","text":"And then?","citations":[]}]',NULL,NULL,NULL,'2026-11-30T18:50:57.123Z');
INSERT INTO "node" VALUES('00000013','00000012','assistant','[{"type":"text","text":"Half of an ans","citations":[]}]','gpt',NULL,'interrupted','2026-11-30T18:50:58.123Z');
INSERT INTO "node" VALUES('00000015',NULL,'user','[{"type":"text","text":"question 0","citations":[]}]',NULL,NULL,NULL,'2026-11-30T18:50:59.123Z');
INSERT INTO "node" VALUES('00000016','00000015','assistant','[{"type":"text","text":"answer 0","citations":[]}]','offline',NULL,'stop','2026-11-30T18:51:00.123Z');
INSERT INTO "node" VALUES('00000017','00000016','user','[{"type":"text","text":"question 1","citations":[]}]',NULL,NULL,NULL,'2026-11-30T18:51:01.123Z');
INSERT INTO "node" VALUES('00000018','00000017','assistant','[{"type":"text","text":"answer 1","citations":[]}]','offline',NULL,'stop','2025-11-30T18:51:02.123Z');
INSERT INTO "node" VALUES('00000020',NULL,'user','[{"type":"text","text":"question 0","citations":[]}]',NULL,NULL,NULL,'2025-11-30T18:51:03.123Z');
INSERT INTO "node" VALUES('00000021','00000020','assistant','[{"type":"video","text":"of a newer version"}]','offline',NULL,'stop','2025-11-30T18:51:04.123Z');
INSERT INTO "node" VALUES('fork-question','00000005','user','[{"type":"text","text":"question of the fork","citations":[]}]',NULL,NULL,NULL,'2026-11-30T19:00:02.000Z');
INSERT INTO "node" VALUES('fork-answer','fork-question','assistant','[{"type":"text","text":"answer of the fork","citations":[]}]','offline',NULL,'stop','2026-11-30T19:00:03.000Z');
INSERT INTO "node" VALUES('v00000002',NULL,'user','[{"type":"text","text":"question 0","citations":[]}]',NULL,NULL,NULL,'2026-11-30T18:50:48.123Z');
INSERT INTO "node" VALUES('v00000003','v00000002','assistant','[{"type":"text","text":"answer 0","citations":[]}]','offline',NULL,'stop','2026-11-30T18:50:49.123Z');
INSERT INTO "node" VALUES('v00000004','v00000003','user','[{"type":"text","text":"question 1","citations":[]}]',NULL,NULL,NULL,'2026-11-30T18:50:50.123Z');
INSERT INTO "node" VALUES('v00000005','v00000004','assistant','[{"type":"text","text":"answer 1","citations":[]}]','offline',NULL,'stop','2026-11-30T18:50:51.123Z');
INSERT INTO "node" VALUES('v00000006','v00000004','assistant','[{"type":"text","text":"another answer","citations":[]}]','offline',NULL,'stop','2026-11-30T18:50:53.123Z');
INSERT INTO "node" VALUES('v00000009',NULL,'user','[{"type":"text","text":"A question whose answer streams?","citations":[]}]',NULL,NULL,NULL,'2026-11-30T18:50:55.123Z');
CREATE TABLE node_text (
            id INTEGER NOT NULL,
            node_id TEXT NOT NULL,
            text TEXT NOT NULL,
            PRIMARY KEY (id),
            FOREIGN KEY(node_id) REFERENCES node (id),
            UNIQUE (node_id)
        );
INSERT INTO "node_text" VALUES(1,'00000002','question 0');
INSERT INTO "node_text" VALUES(2,'00000003','answer 0');
INSERT INTO "node_text" VALUES(3,'00000004','question 1');
INSERT INTO "node_text" VALUES(4,'00000005','answer 1');
INSERT INTO "node_text" VALUES(5,'00000006','question 2');
INSERT INTO "node_text" VALUES(6,'00000007','answer 2');
INSERT INTO "node_text" VALUES(7,'00000008','answer 1 too late');
INSERT INTO "node_text" VALUES(8,'00000010','grosse und angstrom on distance okafor 2014');
INSERT INTO "node_text" VALUES(9,'00000011','distance a passage about parallax abcdefgh see okafor 2014');
INSERT INTO "node_text" VALUES(10,'00000012','and then');
INSERT INTO "node_text" VALUES(11,'00000013','half of an ans');
INSERT INTO "node_text" VALUES(12,'00000015','question 0');
INSERT INTO "node_text" VALUES(13,'00000016','answer 0');
INSERT INTO "node_text" VALUES(14,'00000017','question 1');
INSERT INTO "node_text" VALUES(15,'00000018','answer 1');
INSERT INTO "node_text" VALUES(16,'00000020','question 0');
INSERT INTO "node_text" VALUES(17,'fork-question','question of the fork');
INSERT INTO "node_text" VALUES(18,'fork-answer','answer of the fork');
INSERT INTO "node_text" VALUES(19,'v00000002','question 0');
INSERT INTO "node_text" VALUES(20,'v00000003','answer 0');
INSERT INTO "node_text" VALUES(21,'v00000004','question 1');
INSERT INTO "node_text" VALUES(22,'v00000005','answer 1');
INSERT INTO "node_text" VALUES(23,'v00000006','another answer');
INSERT INTO "node_text" VALUES(24,'v00000009','a question whose answer streams');
CREATE TABLE operation (
  id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  node_id TEXT,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  target TEXT NOT NULL,
  target_version TEXT,
  request TEXT NOT NULL,
  result TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(session_id) REFERENCES session (id),
  FOREIGN KEY(node_id) REFERENCES node (id)
);
CREATE TABLE session (
  id TEXT NOT NULL,
  title TEXT NOT NULL,
  leaf_id TEXT,
  branch_revision INTEGER NOT NULL,
  model TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL, used INTEGER NOT NULL DEFAULT '0', forked_from_id TEXT, forked_at_id TEXT, is_pinned INTEGER NOT NULL DEFAULT '0', archived_at TEXT, deleted_at TEXT,
  PRIMARY KEY (id),
  FOREIGN KEY(leaf_id) REFERENCES node (id)
);
INSERT INTO "session" VALUES('00000001','question 0','00000007',6,'offline','2026-11-30T18:50:48.123Z','2026-11-30T18:50:53.123Z',7,NULL,NULL,0,NULL,NULL);
INSERT INTO "session" VALUES('00000009','Größe','00000013',4,'gpt','2026-11-30T18:50:55.123Z','2026-11-30T18:50:58.123Z',11,NULL,NULL,0,NULL,NULL);
INSERT INTO "session" VALUES('00000014','renamed','00000018',4,'offline','2026-11-30T18:50:59.123Z','2025-11-30T18:51:02.123Z',15,NULL,NULL,0,NULL,NULL);
INSERT INTO "session" VALUES('00000019','question 0','00000021',2,'offline','2025-11-30T18:51:03.123Z','2025-11-30T18:51:04.123Z',17,NULL,NULL,0,NULL,NULL);
INSERT INTO "session" VALUES('fork-1','question 0 (fork)','00000005',1,'offline','2026-11-30T19:00:00.000Z','2026-11-30T19:00:00.000Z',4,NULL,NULL,0,NULL,NULL);
INSERT INTO "session" VALUES('fork-2','question 0 (fork)','fork-answer',3,'offline','2026-11-30T19:00:01.000Z','2026-11-30T19:00:03.000Z',19,NULL,NULL,0,NULL,NULL);
INSERT INTO "session" VALUES('empty','never asked',NULL,0,NULL,'2026-11-30T18:00:00.000Z','2026-11-30T18:00:00.000Z',0,NULL,NULL,0,NULL,NULL);
INSERT INTO "session" VALUES('v00000001','question 0','v00000006',6,'offline','2026-11-30T18:50:48.123Z','2026-11-30T18:50:53.123Z',25,NULL,NULL,0,NULL,NULL);
INSERT INTO "session" VALUES('v00000007','question 0','v00000003',1,'offline','2026-11-30T18:50:54.123Z','2026-11-30T18:50:54.123Z',26,'v00000001','v00000003',0,NULL,NULL);
INSERT INTO "session" VALUES('v00000008','A question whose answer streams?','v00000009',1,'offline','2026-11-30T18:50:55.123Z','2026-11-30T18:50:55.123Z',27,NULL,NULL,0,NULL,NULL);
CREATE TABLE session_node (
  session_id TEXT NOT NULL,
  node_id TEXT NOT NULL, visited INTEGER NOT NULL DEFAULT '0',
  PRIMARY KEY (session_id, node_id),
  FOREIGN KEY(session_id) REFERENCES session (id),
  FOREIGN KEY(node_id) REFERENCES node (id)
)
 WITHOUT ROWID

;
INSERT INTO "session_node" VALUES('00000001','00000002',0);
INSERT INTO "session_node" VALUES('00000001','00000003',0);
INSERT INTO "session_node" VALUES('00000001','00000004',0);
INSERT INTO "session_node" VALUES('00000001','00000005',0);
INSERT INTO "session_node" VALUES('00000001','00000006',0);
INSERT INTO "session_node" VALUES('00000001','00000007',6);
INSERT INTO "session_node" VALUES('00000001','00000008',0);
INSERT INTO "session_node" VALUES('00000009','00000010',0);
INSERT INTO "session_node" VALUES('00000009','00000011',0);
INSERT INTO "session_node" VALUES('00000009','00000012',0);
INSERT INTO "session_node" VALUES('00000009','00000013',4);
INSERT INTO "session_node" VALUES('00000014','00000015',0);
INSERT INTO "session_node" VALUES('00000014','00000016',0);
INSERT INTO "session_node" VALUES('00000014','00000017',0);
INSERT INTO "session_node" VALUES('00000014','00000018',4);
INSERT INTO "session_node" VALUES('00000019','00000020',0);
INSERT INTO "session_node" VALUES('00000019','00000021',2);
INSERT INTO "session_node" VALUES('fork-1','00000002',0);
INSERT INTO "session_node" VALUES('fork-1','00000003',0);
INSERT INTO "session_node" VALUES('fork-1','00000004',0);
INSERT INTO "session_node" VALUES('fork-1','00000005',1);
INSERT INTO "session_node" VALUES('fork-2','00000002',0);
INSERT INTO "session_node" VALUES('fork-2','00000003',0);
INSERT INTO "session_node" VALUES('fork-2','00000004',0);
INSERT INTO "session_node" VALUES('fork-2','00000005',0);
INSERT INTO "session_node" VALUES('fork-2','fork-answer',3);
INSERT INTO "session_node" VALUES('fork-2','fork-question',0);
INSERT INTO "session_node" VALUES('v00000001','v00000002',1);
INSERT INTO "session_node" VALUES('v00000001','v00000003',2);
INSERT INTO "session_node" VALUES('v00000001','v00000004',5);
INSERT INTO "session_node" VALUES('v00000001','v00000005',4);
INSERT INTO "session_node" VALUES('v00000001','v00000006',6);
INSERT INTO "session_node" VALUES('v00000007','v00000002',0);
INSERT INTO "session_node" VALUES('v00000007','v00000003',1);
INSERT INTO "session_node" VALUES('v00000008','v00000009',1);
CREATE TABLE stream_journal (
            session_id TEXT NOT NULL,
            parent_id TEXT NOT NULL,
            previous_leaf_id TEXT,
            beginning TEXT NOT NULL,
            parts TEXT NOT NULL,
            model TEXT,
            started_at TEXT NOT NULL,
            updated_at TEXT NOT NULL,
            PRIMARY KEY (session_id),
            FOREIGN KEY(session_id) REFERENCES session (id),
            FOREIGN KEY(parent_id) REFERENCES node (id),
            FOREIGN KEY(previous_leaf_id) REFERENCES node (id)
        );
INSERT INTO "stream_journal" VALUES('v00000008','v00000009',NULL,'ask','[{"type":"text","text":"As far as it came","citations":[]}]','offline','2026-11-30T18:50:55.123Z','2026-11-30T18:50:56.123Z');
CREATE INDEX node_parent ON node (parent_id);
CREATE INDEX session_node_node ON session_node (node_id);
CREATE INDEX compaction_run_session ON compaction_run (session_id);
CREATE INDEX ledger_entry_node ON ledger_entry (node_id);
CREATE INDEX ledger_entry_session ON ledger_entry (session_id);
CREATE INDEX operation_session ON operation (session_id);
CREATE TRIGGER node_is_never_replaced BEFORE INSERT ON node
    WHEN EXISTS (SELECT 1 FROM node WHERE id = new.id)
    BEGIN SELECT RAISE(ABORT, 'a stored message is never replaced'); END;
CREATE TRIGGER node_is_append_only BEFORE UPDATE ON node
    BEGIN SELECT RAISE(ABORT, 'a stored message is never changed'); END;
CREATE INDEX session_leaf ON session (leaf_id);
CREATE VIRTUAL TABLE node_fts USING fts5(
        text, content='node_text', content_rowid='id', tokenize='ascii'
    );
INSERT INTO node_fts(node_fts) VALUES ('rebuild');
COMMIT;
PRAGMA application_id = 1114194533;
PRAGMA user_version = 3;
