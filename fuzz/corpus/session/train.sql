BEGIN TRANSACTION;
CREATE TABLE chunks (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, number INTEGER,  content INTEGER, lane INTEGER, n INTEGER, begin_ns INTEGER, end_ns INTEGER, data BLOB NOT NULL,  PRIMARY KEY (run, number));
CREATE TABLE code (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, node INTEGER,  kernel TEXT, kind TEXT, texpr TEXT, llvm_ir TEXT, assembly TEXT, schedule TEXT, arch TEXT, cubin BLOB, registers INTEGER,  spill_store_bytes INTEGER, spill_load_bytes INTEGER, stack_bytes INTEGER, shared_bytes INTEGER);
CREATE TABLE dims (name TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE inputs (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE measured (key TEXT PRIMARY KEY, us REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
INSERT INTO "meta" VALUES('finite_math','0');
INSERT INTO "meta" VALUES('first_id','4');
INSERT INTO "meta" VALUES('fuse_rows','0');
INSERT INTO "meta" VALUES('model_format','Gantry text');
INSERT INTO "meta" VALUES('model_path','model.gir');
INSERT INTO "meta" VALUES('model_relative_path','model.gir');
INSERT INTO "meta" VALUES('model_sha256','');
INSERT INTO "meta" VALUES('notes','');
INSERT INTO "meta" VALUES('policy','');
INSERT INTO "meta" VALUES('program','84d068e0f2b085243ee9e34d352a60afbf593844663bb9162fbb60fd46a8073c');
INSERT INTO "meta" VALUES('program_order','0');
INSERT INTO "meta" VALUES('random_weights','-1');
INSERT INTO "meta" VALUES('state_sha256','a537199a0bcf0c40b6deb7eb1ae51983c3f98e9a5e8eb9784afcf4ca7c901f35');
INSERT INTO "meta" VALUES('target','[target]
name=cpu, 2 threads
peak_flops=160000000000
memory_bandwidth=18000000000
launch_us=1
link_bandwidth=10000000000
memory_limit=0
host_limit=0
');
INSERT INTO "meta" VALUES('train','1');
INSERT INTO "meta" VALUES('training','[training]
loss=output
output=0
optimizer=sgd
learning_rate=0.01
momentum=0.90000000000000002
beta1=0.90000000000000002
beta2=0.999
epsilon=1e-08
weight_decay=0
clip_norm=0
l2=0
no_loss=false
');
CREATE TABLE nodes (id INTEGER PRIMARY KEY, function TEXT, op TEXT NOT NULL, name TEXT, type TEXT,  scope TEXT, location TEXT);
CREATE TABLE passes (position INTEGER PRIMARY KEY, name TEXT NOT NULL, title TEXT NOT NULL,  enabled INTEGER NOT NULL, nodes_before INTEGER, nodes_after INTEGER, made INTEGER, removed INTEGER,  milliseconds REAL);
INSERT INTO "passes" VALUES(0,'import','Import',1,2,2,0,0,0.0);
INSERT INTO "passes" VALUES(1,'parameterize','Parameters',1,2,2,0,0,0.009);
INSERT INTO "passes" VALUES(2,'legalize','Legalize',1,2,2,0,0,0.001);
INSERT INTO "passes" VALUES(3,'simplify','Arithmetic simplification',1,2,2,0,0,0.004);
INSERT INTO "passes" VALUES(4,'inline','Inline calls',1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "passes" VALUES(5,'roll','Roll equal blocks',1,2,2,0,0,0.005);
INSERT INTO "passes" VALUES(6,'train','Training step',1,2,14,16,0,0.116);
INSERT INTO "passes" VALUES(7,'unroll','Unroll control flow',1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "passes" VALUES(8,'simplify-2','Arithmetic simplification',1,14,14,4,2,0.013);
INSERT INTO "passes" VALUES(9,'epilogue','Convolution epilogues',1,14,14,0,0,0.007);
INSERT INTO "passes" VALUES(10,'fold','Constant folding',1,14,13,1,1,0.029);
INSERT INTO "passes" VALUES(11,'cse','Common subexpressions',1,13,13,0,3,0.008);
INSERT INTO "passes" VALUES(12,'dce','Dead code',1,13,13,0,1,0.005);
INSERT INTO "passes" VALUES(13,'fuse','Elementwise fusion',1,13,10,11,0,0.022);
INSERT INTO "passes" VALUES(14,'dce-2','Dead code',1,10,7,0,5,0.006);
CREATE TABLE placements (variant TEXT NOT NULL, key TEXT NOT NULL, node INTEGER, kind INTEGER NOT NULL,  memory INTEGER NOT NULL, decided_by INTEGER NOT NULL, PRIMARY KEY (variant, key)) WITHOUT ROWID;
CREATE TABLE plan_buffers (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,  buffer INTEGER, node INTEGER, member INTEGER, category INTEGER, region INTEGER, memory INTEGER, in_place INTEGER,  shares INTEGER, offset INTEGER, size INTEGER, first_step INTEGER, last_step INTEGER, role INTEGER,  instance INTEGER, PRIMARY KEY (run, buffer)) WITHOUT ROWID;
CREATE TABLE plan_memory (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,  memory INTEGER, arena_bytes INTEGER, argument_bytes INTEGER, output_bytes INTEGER, alias_bytes INTEGER,  PRIMARY KEY (run, memory)) WITHOUT ROWID;
CREATE TABLE plan_problems (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,  node INTEGER, kind INTEGER, given INTEGER, reason TEXT);
CREATE TABLE plan_steps (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step INTEGER,  node INTEGER, queue INTEGER, init INTEGER, start_us REAL, duration_us REAL, live_bytes INTEGER,  kind INTEGER, instance INTEGER, wait_us REAL, operands INTEGER, buffers TEXT, waits TEXT,  PRIMARY KEY (run, step)) WITHOUT ROWID;
CREATE TABLE run_memory (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, what TEXT,  bytes INTEGER, step INTEGER, node INTEGER, PRIMARY KEY (run, what)) WITHOUT ROWID;
CREATE TABLE runs (id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, name TEXT, device TEXT,  recorded_at TEXT, threads INTEGER, runs INTEGER, milliseconds REAL, milliseconds_min REAL, milliseconds_max REAL,  compile_milliseconds REAL, planned_bytes INTEGER, peak_bytes INTEGER, constant_bytes INTEGER,  lower_bound_bytes INTEGER, literal_bytes INTEGER, peak_step INTEGER, predicted_us REAL, init_steps INTEGER,  program TEXT, head BLOB, copied_bytes INTEGER, recompute_us REAL, stall_us REAL, resident INTEGER,  packed_bytes INTEGER, code_bytes INTEGER, sizes_known INTEGER);
CREATE TABLE variants (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, policy TEXT,  limit_bytes INTEGER, decided_by INTEGER, peak_bytes INTEGER, temp_bytes INTEGER, host_bytes INTEGER,  copied_bytes INTEGER, step_us REAL, recompute_us REAL, stall_us REAL, gap REAL);
CREATE INDEX code_by_run ON code (run);
COMMIT;
