//! Files damaged by chance: nothing that is read panics.

mod damaged;

#[test]
fn damaged_files_never_panic() {
    damaged::read_damaged(|_, _| {});
}
