-- A database of runs as the first version of the dashboard that has one makes it, by Alembic.
BEGIN TRANSACTION;
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE panels (
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    request TEXT NOT NULL,
    task TEXT NOT NULL,
    seed INTEGER NOT NULL,
    device TEXT NOT NULL,
    plugins TEXT NOT NULL,
    contract TEXT NOT NULL,
    torch TEXT NOT NULL,
    threads INTEGER NOT NULL,
    "commit" TEXT NOT NULL,
    data_sha256 TEXT NOT NULL,
    PRIMARY KEY (run, number),
    FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
)
 STRICT

;
INSERT INTO "panels" VALUES('5d14f79bd5ec4f143463e699fe44e6d4',0,'{"data":"","device":"auto","model":"","options":[],"parameters":[],"scoring":"gaussian","seed":7,"task":"regression"}','regression',7,'auto','{}','','',0,'','');
INSERT INTO "panels" VALUES('5d14f79bd5ec4f143463e699fe44e6d4',1,'{"data":"","device":"auto","model":"","options":[],"parameters":[],"scoring":"gaussian","seed":11,"task":"regression"}','regression',11,'auto','{}','','',0,'','');
CREATE TABLE runs (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    note TEXT NOT NULL,
    link TEXT NOT NULL,
    origin TEXT NOT NULL,
    source TEXT NOT NULL,
    created REAL NOT NULL,
    expires REAL,
    bytes INTEGER NOT NULL,
    digest TEXT NOT NULL,
    picture TEXT NOT NULL,
    owner TEXT NOT NULL,
    parent TEXT NOT NULL,
    PRIMARY KEY (id)
)
 STRICT

;
INSERT INTO "runs" VALUES('5d14f79bd5ec4f143463e699fe44e6d4','one','first line
second line','/?a=gaussian&b=uniform','kept','',1.79547574771352672572e+09,NULL,2716,'f830624caf06503e22be67e1b1990a8c31402a3b551b96c1b8d289a346d917cc','27f99ea0610edf99609ca319811443c390f740301983414c24bba5372ae7735a','','');
CREATE INDEX ix_runs_expires ON runs (expires);
CREATE INDEX ix_runs_digest ON runs (digest);
CREATE INDEX ix_runs_picture ON runs (picture);
CREATE INDEX ix_runs_owner ON runs (owner);
COMMIT;
