// The databases that Go's module proxy has: store load|check DATABASE SETTING
//
// load keeps rows and prints a line for each commit, as databases/README.md says; check reads them back.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/dgraph-io/badger/v4"
	"go.etcd.io/bbolt"
)

const rows = 40

type pair struct{ name, value string }

// store is a database of rows; put keeps all of them in one commit, with the durability of the setting.
type store interface {
	put(pairs []pair) error
	get(name string) (string, error)
	close() error
}

type boltStore struct{ db *bbolt.DB }

var bucket = []byte("rows")

func (s boltStore) put(pairs []pair) error {
	return s.db.Update(func(tx *bbolt.Tx) error {
		all, err := tx.CreateBucketIfNotExists(bucket)
		for _, p := range pairs {
			err = errors.Join(err, all.Put([]byte(p.name), []byte(p.value)))
		}
		return err
	})
}

func (s boltStore) get(name string) (found string, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		if all := tx.Bucket(bucket); all != nil {
			found = string(all.Get([]byte(name)))
		}
		return nil
	})
	return
}

func (s boltStore) close() error { return s.db.Close() }

type pebbleStore struct {
	db    *pebble.DB
	write *pebble.WriteOptions
}

func (s pebbleStore) put(pairs []pair) error {
	batch := s.db.NewBatch()
	for _, p := range pairs {
		if err := batch.Set([]byte(p.name), []byte(p.value), nil); err != nil {
			return err
		}
	}
	return batch.Commit(s.write)
}

func (s pebbleStore) get(name string) (string, error) {
	value, closer, err := s.db.Get([]byte(name))
	if errors.Is(err, pebble.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer closer.Close()
	return string(value), nil
}

func (s pebbleStore) close() error { return s.db.Close() }

type badgerStore struct{ db *badger.DB }

func (s badgerStore) put(pairs []pair) error {
	return s.db.Update(func(tx *badger.Txn) error {
		for _, p := range pairs {
			if err := tx.Set([]byte(p.name), []byte(p.value)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s badgerStore) get(name string) (found string, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		item, err := tx.Get([]byte(name))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		value, err := item.ValueCopy(nil)
		found = string(value)
		return err
	})
	return
}

func (s badgerStore) close() error { return s.db.Close() }

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, arguments ...any) {
	panic(fmt.Sprintf(format, arguments...))
}

func open(database, setting string) (store, error) {
	switch database {
	case "bbolt":
		db, err := bbolt.Open("db/data", 0o644, nil)
		return boltStore{db}, err
	case "pebble":
		write := pebble.Sync
		if setting == "NoSync" {
			write = pebble.NoSync
		}
		db, err := pebble.Open("db", &pebble.Options{Logger: quiet{}})
		return pebbleStore{db, write}, err
	case "badger":
		options := badger.DefaultOptions("db").WithLogger(nil).WithSyncWrites(setting == "SyncWrites")
		db, err := badger.Open(options)
		return badgerStore{db}, err
	}
	return nil, fmt.Errorf("no database %s", database)
}

func name(row int) string { return fmt.Sprintf("row %d", row) }

func value(row int) string { return strings.Repeat(fmt.Sprintf("%05d", row), 100) }

func load(database, setting string) error {
	// Applications make the folder of a database; its own name is their duty.
	if err := os.Mkdir("db", 0o755); err != nil {
		return err
	}
	top, err := os.Open(".")
	if err == nil {
		err = top.Sync()
	}
	if err != nil {
		return err
	}
	for from := 1; from <= rows; from += rows / 2 {
		s, err := open(database, setting)
		if err != nil {
			return err
		}
		for row := from; row < from+rows/2; row++ {
			if err := s.put([]pair{{name(row), value(row)}, {"last", strconv.Itoa(row)}}); err != nil {
				return err
			}
			fmt.Printf("acknowledged %d\n", row)
		}
		if err := s.close(); err != nil {
			return err
		}
	}
	return nil
}

func check(database, setting string) error {
	acknowledged := 0
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		row, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "acknowledged "))
		if err != nil {
			return err
		}
		acknowledged = max(acknowledged, row)
	}
	if _, err := os.Stat("db"); err != nil {
		if acknowledged > 0 {
			return fmt.Errorf("unreadable: %w", err)
		}
		return nil
	}
	s, err := open(database, setting)
	if err != nil {
		return fmt.Errorf("unreadable: %w (%d acknowledged)", err, acknowledged)
	}
	found, err := s.get("last")
	if err != nil {
		return fmt.Errorf("unreadable: %w", err)
	}
	last, _ := strconv.Atoi(found)
	if last < acknowledged {
		return fmt.Errorf("lost: %d acknowledged, last is %d", acknowledged, last)
	}
	for row := 1; row <= rows; row++ {
		expected := ""
		if row <= last {
			expected = value(row)
		}
		found, err := s.get(name(row))
		if err != nil {
			return fmt.Errorf("unreadable: %w", err)
		}
		if found != expected {
			return fmt.Errorf("torn: last is %d, row %d is %.5q", last, row, found)
		}
	}
	return s.close()
}

func main() {
	work := load
	if os.Args[1] == "check" {
		work = check
	}
	if err := work(os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
}
