-- A history as the first version of its schema was: two turns and a draft, dumped from a file that program made.
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
INSERT INTO "draft" VALUES('00000001','a draft','[]','2026-11-30T18:50:52.123Z');
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
INSERT INTO "session" VALUES('00000001','question 0','00000005',4,'offline','2026-11-30T18:50:48.123Z','2026-11-30T18:50:51.123Z');
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
CREATE TRIGGER node_is_append_only BEFORE UPDATE ON node
    BEGIN SELECT RAISE(ABORT, 'a stored message is never changed'); END;
CREATE TRIGGER node_is_never_replaced BEFORE INSERT ON node
    WHEN EXISTS (SELECT 1 FROM node WHERE id = new.id)
    BEGIN SELECT RAISE(ABORT, 'a stored message is never replaced'); END;
COMMIT;
PRAGMA application_id = 1114194533;
PRAGMA user_version = 1;
