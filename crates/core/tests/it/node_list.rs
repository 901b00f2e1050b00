//! Slurm's node lists: read, written, and refused where they are none.

use laneway_core::node_list::{compress, expand};
use laneway_stats::SplitMix64;

fn names(list: &str) -> Vec<String> {
    expand(list, 10_000).unwrap_or_else(|error| panic!("{list}: {error}"))
}

#[test]
fn brackets_are_written_out() {
    assert_eq!(names("node7"), ["node7"]);
    assert_eq!(names("node[0-3,7]"), ["node0", "node1", "node2", "node3", "node7"]);
    assert_eq!(names("n[010-012]"), ["n010", "n011", "n012"]);
    assert_eq!(names("n[8-11]"), ["n8", "n9", "n10", "n11"]);
    assert_eq!(names("n[098-101]x"), ["n098x", "n099x", "n100x", "n101x"]);
    assert_eq!(names("r[1-2]n[3,5],login"), ["r1n3", "r1n5", "r2n3", "r2n5", "login"]);
    assert_eq!(names("a-b_c.d[0-0]"), ["a-b_c.d0"]);
}

#[test]
fn names_are_gathered() {
    let all = |list: &str| compress(&names(list));
    for list in [
        "node[0-3,7]",
        "n[010-012]",
        "n[8-11]",
        "r[1-2]n[3,5],login",
        "a,b,c",
        "n[3,1-2]",
        "gpu[0-1],n[0-1]",
        "n[07-10]",
        "r1n1,r2n[1-2]",
    ] {
        assert_eq!(all(list), list);
    }
    assert_eq!(all("node0,node1,node2"), "node[0-2]");
    assert_eq!(compress::<&str>(&[]), "");
}

/// Whatever the names, reading what was written gives them back in their order.
#[test]
fn what_is_written_is_read() {
    let mut draws = SplitMix64::new(7);
    for _ in 0..2_000 {
        let mut own = Vec::new();
        for _ in 0..draws.index(30) + 1 {
            let number = draws.index(12);
            let width = draws.index(3);
            own.push(match draws.index(4) {
                0 => format!("r{}n{number:0width$}", draws.index(3)),
                1 => format!("n{number:0width$}"),
                2 => format!("n{number:0width$}-ib{}", draws.index(2)),
                _ => format!("{number}x99999999999999999999{}", draws.index(2)),
            });
        }
        assert_eq!(names(&compress(&own)), own);
    }
}

#[test]
fn an_invalid_list_is_refused_with_its_position() {
    for (list, position, word) in [
        ("", 1, "missing"),
        ("a,,b", 3, "missing"),
        ("a,", 3, "missing"),
        ("n[1-3", 2, "not closed"),
        ("n1]", 3, "character"),
        ("n[]", 3, "missing"),
        ("n[1,]", 5, "missing"),
        ("n[5-3]", 3, "more than"),
        ("n[1-2-3]", 3, "missing"),
        ("n[a]", 3, "missing"),
        ("n[[1]]", 3, "missing"),
        ("ok,n[1-2],x y", 12, "character"),
        ("n[1-99999999999999999999]", 3, "digits"),
        ("n[0-999999999999999999]", 1, "more than 10000"),
        ("n[0-99999]x[0-99999]y[0-999999999]", 1, "more than 10000"),
        ("a,n[0-9999]", 3, "more than 10000"),
        ("knöten", 3, "character"),
    ] {
        let error = expand(list, 10_000).expect_err(list);
        assert_eq!(error.position, position, "{list}: {error}");
        assert!(error.what.contains(word), "{list}: {error}");
    }
}

/// Random letters never panic, and never make more names than are allowed.
#[test]
fn nothing_panics() {
    let letters: Vec<char> = "n0123456789[]-,,[[]]é ".chars().collect();
    let mut draws = SplitMix64::new(11);
    let mut read = 0;
    for _ in 0..50_000 {
        let length = draws.index(16);
        let list: String = (0..length).map(|_| letters[draws.index(letters.len())]).collect();
        if let Ok(names) = expand(&list, 500) {
            assert!(names.len() <= 500);
            read += 1;
        }
    }
    assert!(read > 100, "only {read} lists were any");
}

/// Few bytes must not stand for very many.
#[test]
fn names_are_bounded() {
    assert!(expand(&"a".repeat(255), 1).is_ok());
    assert!(expand(&"a".repeat(256), 1).is_err());
    assert!(expand(&"a[0]".repeat(17), 1).is_err());
}
