use super::*;

const SIZES: Bonnie = Bonnie {
    size_bytes: 64 * 256,
    chunk_bytes: 256,
    char_bytes: 1024,
    seeks: 100,
    seekers: 3,
    files: 1000,
    file_bytes: (10, 20),
    directories: 3,
    fsync_each: false,
    least_ns: 0,
};

/// The buffer of bonnie++, step by step.
fn as_bonnie_writes(chunk_bytes: usize, chunks: usize) -> Vec<u8> {
    let (mut file, mut buffer) = (Vec::new(), vec![0_u8; chunk_bytes]);
    for chunk in 0..chunks {
        let place = chunk % chunk_bytes;
        buffer[place] = buffer[place].wrapping_add(1);
        file.extend_from_slice(&buffer);
    }
    file
}

#[test]
fn contents_are_those_that_bonnie_writes_rewrites_and_seeks() {
    let (size, count) = (256, 70_000);
    let mut file = as_bonnie_writes(size, count);
    let seeks = Seeks { seed: 3, chunks: to_u64(count), made: 5000 };
    for chunk in 0..count {
        let byte = &mut file[chunk * size + chunk % size];
        *byte = byte.wrapping_add(2);
    }
    let mut chunks: Vec<u64> =
        seeks.all().take(5000).filter(|seek| seek.writes).map(|seek| seek.chunk).collect();
    chunks.sort_unstable();
    chunks.dedup();
    assert!((400..600).contains(&chunks.len()), "{}", chunks.len());
    for chunk in chunks {
        let chunk = to_usize(chunk);
        let byte = &mut file[chunk * size + chunk % size];
        *byte = byte.wrapping_sub(1);
    }
    let data = BonnieData::Chunks(Chunks { chunk_bytes: size, rewrites: 2, seeks });
    let mut buffer = vec![0; file.len()];
    data.fill(0, &mut buffer);
    assert!(buffer == file);
    let mut part = vec![0; 1000];
    data.fill(123_457, &mut part);
    assert_eq!(part, file[123_457..124_457]);
}

#[test]
fn a_seed_decides_everything_and_another_changes_it() {
    let seeks = |seed| Seeks { seed, chunks: 64, made: 0 }.all().take(50).collect::<Vec<_>>();
    assert_eq!(seeks(1), seeks(1));
    assert_ne!(seeks(1), seeks(2));
    let files = |seed| small_files(&SIZES, BonnieOrder::Random, seed);
    assert_eq!(files(1), files(1));
    assert_ne!(files(1), files(2));
    assert_eq!(shuffled(100, 1, 0), shuffled(100, 1, 0));
    assert_ne!(shuffled(100, 1, 0), shuffled(100, 1, 1));
}

#[test]
fn names_are_formed_as_bonnie_forms_them() {
    let sequential = small_files(&SIZES, BonnieOrder::Sequential, 1);
    assert!(sequential.is_sorted_by_key(|file| &file.name));
    assert!(sequential[255].name.starts_with("00000000ff"));
    let random = small_files(&SIZES, BonnieOrder::Random, 1);
    assert!(!random.is_sorted_by_key(|file| &file.name));
    assert!(random[255].name.ends_with("00000000ff"));
    assert!(random.iter().all(|file| (10..=22).contains(&file.name.len())));
    assert!(random.iter().all(|file| (10..=20).contains(&file.bytes)));
    let mut directories: Vec<u64> = random.iter().map(|file| file.directory).collect();
    directories.dedup();
    assert_eq!(directories, [0, 1, 2]);
}
