//! Settings with which MPI libraries, and our own ranks over the network, start without ssh,
//! one rank on each host, and reach each other over the lab's cards and by nothing else.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::error::LabError;
use crate::name::{LabName, card};
use crate::plan::Plan;
use crate::task::Task;

/// Writes the lists of hosts and the command that launchers take for ssh, which is a program that
/// calls [`serve`](crate::serve).
pub fn prepare(lab: &LabName, plan: &Plan, program: &Path) -> Result<(), LabError> {
    let (mut slots, mut plain) = (String::new(), String::new());
    for host in &plan.hosts {
        // Writing into a string cannot fail.
        _ = writeln!(slots, "{} slots=1", host.name);
        _ = writeln!(plain, "{}:1", host.name);
    }
    lab.write("hostfile.open-mpi", &slots)?;
    lab.write("hostfile.mpich", &plain)?;
    lab.write("ssh", &format!("#!/bin/sh\n{}\n", Task::Enter.shell_line(lab, program)))?;
    let file = lab.file("ssh");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755))
        .map_err(|error| LabError::system(format!("making {} a command", file.display()), error))
}

/// Variables for the command that runs on the first host. What the user has set stands.
pub fn environment(lab: &LabName, plan: &Plan) -> Vec<(String, String)> {
    let file = |name: &str| lab.file(name).display().to_string();
    let (ssh, open_mpi, mpich) = (file("ssh"), file("hostfile.open-mpi"), file("hostfile.mpich"));
    let data: Vec<String> = (0..plan.options.cards).map(card).collect();
    let (first, data) = (card(0), data.join(","));
    let control = if plan.options.management { "mgmt".to_string() } else { first.clone() };
    let pairs: &[(&str, &str)] = &[
        ("LANEWAY_LAB", lab.as_str()),
        // Where hosts are, for algorithms that ask.
        ("LANEWAY_SITES", &plan.platform),
        // Ranks of `--backend net`, one on each host, over the lab's cards.
        ("LANEWAY_SSH", &ssh),
        ("LANEWAY_HOSTFILE", &open_mpi),
        ("LANEWAY_PATHS", &data),
        // Open MPI 4, then 5: TCP alone, no binding to cores that all hosts share, and ranks that
        // let others work while they wait.
        ("OMPI_MCA_plm_rsh_agent", &ssh),
        ("OMPI_MCA_orte_default_hostfile", &open_mpi),
        ("OMPI_MCA_orte_keep_fqdn_hostnames", "1"),
        ("OMPI_MCA_pml", "ob1"),
        ("OMPI_MCA_btl", "tcp,self"),
        // Fragments without a question each, which would cross the WAN.
        ("OMPI_MCA_btl_tcp_flags", "9"),
        ("OMPI_MCA_btl_tcp_if_include", &data),
        ("OMPI_MCA_oob_tcp_if_include", &control),
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
        ("OMPI_MCA_mpi_show_help", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("PRTE_ALLOW_RUN_AS_ROOT", "1"),
        ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("PRTE_MCA_plm_ssh_agent", &ssh),
        ("PRTE_MCA_prte_default_hostfile", &open_mpi),
        ("PRTE_MCA_prte_if_include", &control),
        ("PRTE_MCA_prte_keep_fqdn_hostnames", "1"),
        ("PRTE_MCA_hwloc_default_binding_policy", "none"),
        // MPICH and Intel MPI (hydra), over UCX or libfabric.
        ("HYDRA_LAUNCHER", "rsh"),
        ("HYDRA_LAUNCHER_EXEC", &ssh),
        ("HYDRA_HOST_FILE", &mpich),
        ("HYDRA_IFACE", &control),
        ("HYDRA_BINDING", "none"),
        ("I_MPI_HYDRA_BOOTSTRAP", "rsh"),
        ("I_MPI_HYDRA_BOOTSTRAP_EXEC", &ssh),
        ("I_MPI_HYDRA_HOST_FILE", &mpich),
        ("I_MPI_HYDRA_IFACE", &control),
        ("I_MPI_PERHOST", "1"),
        ("I_MPI_JOB_RESPECT_PROCESS_PLACEMENT", "0"),
        ("I_MPI_FABRICS", "ofi"),
        ("I_MPI_OFI_PROVIDER", "tcp"),
        ("I_MPI_PIN", "0"),
        ("I_MPI_THREAD_YIELD", "3"),
        ("UCX_TLS", "tcp,self"),
        ("UCX_NET_DEVICES", &data),
        ("FI_PROVIDER", "tcp"),
        ("FI_TCP_IFACE", &first),
        ("MPIR_CVAR_NOLOCAL", "1"),
    ];
    let unset = |name: &str| std::env::var_os(name).is_none();
    let pairs = pairs.iter().filter(|(name, _)| *name == "LANEWAY_LAB" || unset(name));
    pairs.map(|(name, value)| (name.to_string(), value.to_string())).collect()
}
