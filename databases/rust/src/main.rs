//! The databases that crates.io has: store load|check DATABASE SETTING
//!
//! `load` keeps rows and prints a line for each commit, as databases/README.md says; `check` reads
//! them back.

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ROWS: u32 = 40;

/// The name of what holds the last row's number, and what rows' names begin with.
const LAST: &str = "last";
const ROW: &str = "row ";

/// A database of rows.
trait Store {
    /// Keeps rows in one commit, with the durability of the setting.
    fn put(&self, rows: &[(String, String)]) -> Result<()>;
    fn get(&self, name: &str) -> Result<Option<String>>;
}

struct Redb {
    db: redb::Database,
    is_two_phase: bool,
}

const TABLE: redb::TableDefinition<&str, &str> = redb::TableDefinition::new("rows");

impl Store for Redb {
    fn put(&self, rows: &[(String, String)]) -> Result<()> {
        let mut transaction = self.db.begin_write()?;
        transaction.set_two_phase_commit(self.is_two_phase);
        {
            let mut table = transaction.open_table(TABLE)?;
            for (name, value) in rows {
                table.insert(name.as_str(), value.as_str())?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn get(&self, name: &str) -> Result<Option<String>> {
        use redb::ReadableDatabase;
        match self.db.begin_read()?.open_table(TABLE) {
            Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
            table => Ok(table?.get(name)?.map(|value| value.value().to_owned())),
        }
    }
}

struct Sled {
    db: sled::Db,
    flushes: bool,
}

impl Store for Sled {
    /// A row alone: a batch waits for other threads in a loop without system calls, which never
    /// ends where computing takes no time.
    fn put(&self, rows: &[(String, String)]) -> Result<()> {
        let (name, value) = &rows[0];
        self.db.insert(name.as_bytes(), value.as_bytes())?;
        if self.flushes {
            self.db.flush()?;
        }
        Ok(())
    }

    fn get(&self, name: &str) -> Result<Option<String>> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if name != LAST {
            return Ok(self.db.get(name)?.map(|value| text(&value)));
        }
        let mut last = 0;
        for row in self.db.iter() {
            let number = text(&row?.0).trim_start_matches(ROW).parse::<u32>()?;
            last = number.max(last);
        }
        Ok(Some(last.to_string()))
    }
}

struct Fjall {
    db: fjall::Database,
    rows: fjall::Keyspace,
    persists: bool,
}

impl Store for Fjall {
    fn put(&self, rows: &[(String, String)]) -> Result<()> {
        let mut batch = self.db.batch();
        for (name, value) in rows {
            batch.insert(&self.rows, name.as_str(), value.as_str());
        }
        batch.commit()?;
        if self.persists {
            self.db.persist(fjall::PersistMode::SyncAll)?;
        }
        Ok(())
    }

    fn get(&self, name: &str) -> Result<Option<String>> {
        Ok(self.rows.get(name)?.map(|value| String::from_utf8_lossy(&value).into_owned()))
    }
}

fn open(database: &str, setting: &str) -> Result<Box<dyn Store>> {
    Ok(match database {
        "redb" => Box::new(Redb {
            db: redb::Database::create("db/data")?,
            is_two_phase: setting == "two-phase commit",
        }),
        "sled" => Box::new(Sled { db: sled::open("db")?, flushes: setting == "flush()" }),
        "fjall" => {
            let db = fjall::Database::builder("db").open()?;
            let rows = db.keyspace("rows", fjall::KeyspaceCreateOptions::default)?;
            Box::new(Fjall { db, rows, persists: setting == "persist(SyncAll)" })
        }
        other => return Err(format!("no database {other}").into()),
    })
}

fn name(row: u32) -> String {
    format!("{ROW}{row}")
}

fn value(row: u32) -> String {
    format!("{row:05}").repeat(100)
}

fn load(open: &dyn Fn() -> Result<Box<dyn Store>>) -> Result<()> {
    // Applications make the folder of a database; its own name is their duty.
    fs::create_dir("db")?;
    File::open(".")?.sync_all()?;
    for rows in [1..=ROWS / 2, ROWS / 2 + 1..=ROWS] {
        let store = open()?;
        for row in rows {
            store.put(&[(name(row), value(row)), (LAST.to_owned(), row.to_string())])?;
            println!("acknowledged {row}");
        }
    }
    Ok(())
}

fn check(open: &dyn Fn() -> Result<Box<dyn Store>>) -> Result<()> {
    let mut lines = String::new();
    io::stdin().read_to_string(&mut lines)?;
    let numbers = lines.split_whitespace().filter_map(|word| word.parse::<u32>().ok());
    let acknowledged = numbers.max().unwrap_or(0);
    if !Path::new("db").is_dir() {
        return if acknowledged > 0 {
            Err("unreadable: there is no folder".into())
        } else {
            Ok(())
        };
    }
    let store =
        open().map_err(|error| format!("unreadable: {error} ({acknowledged} acknowledged)"))?;
    let get = |name: &str| store.get(name).map_err(|error| format!("unreadable: {error}"));
    let last: u32 = get(LAST)?.unwrap_or_default().parse().unwrap_or(0);
    if last < acknowledged {
        return Err(format!("lost: {acknowledged} acknowledged, last is {last}").into());
    }
    for row in 1..=ROWS {
        let found = get(&name(row))?;
        if found != (row <= last).then(|| value(row)) {
            let found = found.map(|value| value.chars().take(5).collect::<String>());
            return Err(format!("torn: last is {last}, row {row} is {found:?}").into());
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, what, database, setting] = &arguments[..] else { return ExitCode::from(2) };
    let open = || open(database, setting);
    let done = if what == "load" { load(&open) } else { check(&open) };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", error.to_string().replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}
