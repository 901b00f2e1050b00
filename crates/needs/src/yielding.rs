//! Ranks that share a core: what makes one that waits leave it to the others. Without it each
//! message takes as long as the system lets a process run, and tests take minutes.

/// Variables for the launcher; each library looks at its own.
pub fn variables() -> Vec<(&'static str, &'static str)> {
    let mut all = vec![
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
        ("MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1"),
        ("MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT", "1"),
        ("MPIR_CVAR_POLLS_BEFORE_YIELD", "1"),
    ];
    let ucx = env!("LANEWAY_YIELDING");
    if !ucx.is_empty() {
        all.push(("LD_PRELOAD", ucx));
    }
    all
}
