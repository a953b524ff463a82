-- A history as the second version of its schema was, dumped from a file that program made: three chats of which one
-- has an answer beside its branch, a clock that was set back, and by hand two forks and a message of a newer version.
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
CREATE TABLE draft (
  session_id TEXT NOT NULL,
  text TEXT NOT NULL,
  attachments TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (session_id)
);
INSERT INTO "draft" VALUES('00000001','a draft','[]','2025-11-30T18:51:05.123Z');
INSERT INTO "draft" VALUES('','a draft of a new chat','[]','2025-11-30T18:51:06.123Z');
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
  updated_at TEXT NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(leaf_id) REFERENCES node (id)
);
INSERT INTO "session" VALUES('00000001','question 0','00000007',6,'offline','2026-11-30T18:50:48.123Z','2026-11-30T18:50:53.123Z');
INSERT INTO "session" VALUES('00000009','Größe','00000013',4,'gpt','2026-11-30T18:50:55.123Z','2026-11-30T18:50:58.123Z');
INSERT INTO "session" VALUES('00000014','renamed','00000018',4,'offline','2026-11-30T18:50:59.123Z','2025-11-30T18:51:02.123Z');
INSERT INTO "session" VALUES('00000019','question 0','00000021',2,'offline','2025-11-30T18:51:03.123Z','2025-11-30T18:51:04.123Z');
INSERT INTO "session" VALUES('fork-1','question 0 (fork)','00000005',1,'offline','2026-11-30T19:00:00.000Z','2026-11-30T19:00:00.000Z');
INSERT INTO "session" VALUES('fork-2','question 0 (fork)','fork-answer',3,'offline','2026-11-30T19:00:01.000Z','2026-11-30T19:00:03.000Z');
INSERT INTO "session" VALUES('empty','never asked',NULL,0,NULL,'2026-11-30T18:00:00.000Z','2026-11-30T18:00:00.000Z');
CREATE TABLE session_node (
  session_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  PRIMARY KEY (session_id, node_id),
  FOREIGN KEY(session_id) REFERENCES session (id),
  FOREIGN KEY(node_id) REFERENCES node (id)
)
 WITHOUT ROWID

;
INSERT INTO "session_node" VALUES('00000001','00000002');
INSERT INTO "session_node" VALUES('00000001','00000003');
INSERT INTO "session_node" VALUES('00000001','00000004');
INSERT INTO "session_node" VALUES('00000001','00000005');
INSERT INTO "session_node" VALUES('00000001','00000006');
INSERT INTO "session_node" VALUES('00000001','00000007');
INSERT INTO "session_node" VALUES('00000001','00000008');
INSERT INTO "session_node" VALUES('00000009','00000010');
INSERT INTO "session_node" VALUES('00000009','00000011');
INSERT INTO "session_node" VALUES('00000009','00000012');
INSERT INTO "session_node" VALUES('00000009','00000013');
INSERT INTO "session_node" VALUES('00000014','00000015');
INSERT INTO "session_node" VALUES('00000014','00000016');
INSERT INTO "session_node" VALUES('00000014','00000017');
INSERT INTO "session_node" VALUES('00000014','00000018');
INSERT INTO "session_node" VALUES('00000019','00000020');
INSERT INTO "session_node" VALUES('00000019','00000021');
INSERT INTO "session_node" VALUES('fork-2','fork-answer');
INSERT INTO "session_node" VALUES('fork-2','fork-question');
CREATE TABLE stream_journal (
  session_id TEXT NOT NULL,
  parent_id TEXT NOT NULL,
  parts TEXT NOT NULL,
  model TEXT,
  started_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (session_id),
  FOREIGN KEY(session_id) REFERENCES session (id),
  FOREIGN KEY(parent_id) REFERENCES node (id)
);
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
COMMIT;
PRAGMA application_id = 1114194533;
PRAGMA user_version = 2;
