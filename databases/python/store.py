"""The databases that PyPI has: store.py load|check DATABASE SETTING

`load` keeps rows and prints a line for each commit, as databases/README.md says; `check` reads them back.
"""

import os
import sys

ROWS = 40


class Sqlite:
    def __init__(self, setting):
        import apsw

        self.db = apsw.Connection("db/data")
        for pragma in {"rollback, extra": ["synchronous=extra"], "WAL": ["journal_mode=wal"]}.get(setting, []):
            self.db.execute(f"pragma {pragma}").fetchall()
        self.db.execute("create table if not exists rows (name text primary key, value text)")

    def put(self, rows):
        with self.db:
            self.db.executemany("insert or replace into rows values (?, ?)", list(rows.items()))

    def get(self, name):
        return self.db.execute("select value from rows where name = ?", (name,)).get

    def close(self):
        self.db.close()


class Lmdb:
    def __init__(self, setting):
        import lmdb

        self.db = lmdb.open("db", map_size=16 << 20, writemap=setting == "writemap")

    def put(self, rows):
        with self.db.begin(write=True) as transaction:
            for name, value in rows.items():
                transaction.put(name.encode(), value.encode())

    def get(self, name):
        with self.db.begin() as transaction:
            return text(transaction.get(name.encode()))

    def close(self):
        self.db.close()


class LevelDb:
    def __init__(self, setting):
        import plyvel

        self.db = plyvel.DB("db", create_if_missing=True)
        self.sync = setting == "sync"

    def put(self, rows):
        with self.db.write_batch(transaction=True, sync=self.sync) as batch:
            for name, value in rows.items():
                batch.put(name.encode(), value.encode())

    def get(self, name):
        return text(self.db.get(name.encode()))

    def close(self):
        self.db.close()


class RocksDb:
    def __init__(self, setting):
        import rocksdict

        self.batch = lambda: rocksdict.WriteBatch(raw_mode=True)
        self.db = rocksdict.Rdict("db", rocksdict.Options(raw_mode=True))
        self.options = rocksdict.WriteOptions()
        self.options.sync = setting == "sync"

    def put(self, rows):
        batch = self.batch()
        for name, value in rows.items():
            batch.put(name.encode(), value.encode())
        self.db.write(batch, self.options)

    def get(self, name):
        return text(self.db.get(name.encode()))

    def close(self):
        self.db.close()


class DuckDb:
    def __init__(self, setting):
        import duckdb

        self.db = duckdb.connect("db/data")
        self.db.execute("create table if not exists rows (name text primary key, value text)")

    def put(self, rows):
        self.db.execute("begin")
        for row in rows.items():
            self.db.execute("insert or replace into rows values (?, ?)", row)
        self.db.execute("commit")

    def get(self, name):
        found = self.db.execute("select value from rows where name = ?", (name,)).fetchone()
        return found and found[0]

    def close(self):
        self.db.close()


STORES = {"sqlite": Sqlite, "lmdb": Lmdb, "leveldb": LevelDb, "rocksdb": RocksDb, "duckdb": DuckDb}


def text(value):
    return value and value.decode()


def name(row):
    return f"row {row}"


def value(row):
    return f"{row:05}" * 100


def load(open_store):
    # Applications make the folder of a database; its own name is their duty.
    os.mkdir("db")
    top = os.open(".", os.O_RDONLY)
    os.fsync(top)
    for rows in range(1, ROWS // 2 + 1), range(ROWS // 2 + 1, ROWS + 1):
        store = open_store()
        for row in rows:
            store.put({name(row): value(row), "last": str(row)})
            print(f"acknowledged {row}", flush=True)
        store.close()


def check(open_store):
    acknowledged = max([int(line.split()[1]) for line in sys.stdin], default=0)
    if not os.path.isdir("db"):
        sys.exit("unreadable: there is no folder" if acknowledged else 0)
    try:
        store = open_store()
    except Exception as error:
        sys.exit(f"unreadable: {error} ({acknowledged} acknowledged)".replace("\n", " "))
    last = int(store.get("last") or 0)
    if last < acknowledged:
        sys.exit(f"lost: {acknowledged} acknowledged, last is {last}")
    for row in range(1, ROWS + 1):
        found, expected = store.get(name(row)), value(row) if row <= last else None
        if found != expected:
            sys.exit(f"torn: last is {last}, row {row} is {found and found[:5]!r}")
    store.close()


if __name__ == "__main__":
    what, database, setting = sys.argv[1:]
    {"load": load, "check": check}[what](lambda: STORES[database](setting))
