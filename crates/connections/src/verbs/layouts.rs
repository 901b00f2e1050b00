//! Every layout and constant of `ffi.rs` against the real header, as a C compiler sees it.

use std::fs;
use std::mem::{offset_of, size_of};
use std::process::Command;

use laneway_needs::{Need, header};

use super::ffi::*;
use super::library::Library;

/// Names in C, with where they are in Rust.
macro_rules! offsets {
    ($found:ident, $($kind:ident { $($field:ident),* $(,)? })*) => {
        $($($found.push((
            concat!("offsetof(struct ", stringify!($kind), ", ", stringify!($field), ")").into(),
            offset_of!($kind, $field),
        ));)*)*
    };
}

/// Expressions of C that must have these values.
fn expected() -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    offsets! { found,
        ibv_context { device, ops, cmd_fd, async_fd, num_comp_vectors }
        ibv_context_ops { poll_cq, req_notify_cq, post_send, post_recv }
        ibv_qp { context, qp_context, pd, send_cq, recv_cq, srq, handle, qp_num }
        ibv_comp_channel { context, fd }
        ibv_mr { context, pd, addr, length, handle, lkey }
        ibv_port_attr {
            state, max_mtu, active_mtu, gid_tbl_len, port_cap_flags, max_msg_sz, bad_pkey_cntr,
            qkey_viol_cntr, pkey_tbl_len, lid, sm_lid, lmc, max_vl_num, sm_sl, subnet_timeout,
            init_type_reply, active_width, active_speed, phys_state, link_layer, flags,
            port_cap_flags2,
        }
        ibv_async_event { element, event_type }
        ibv_wc {
            wr_id, status, opcode, vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags,
            pkey_index, slid, sl, dlid_path_bits,
        }
        ibv_global_route { dgid, flow_label, sgid_index, hop_limit, traffic_class }
        ibv_ah_attr { grh, dlid, sl, src_path_bits, static_rate, is_global, port_num }
        ibv_qp_cap { max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data }
        ibv_qp_init_attr { qp_context, send_cq, recv_cq, srq, cap, qp_type, sq_sig_all }
        ibv_qp_attr {
            qp_state, cur_qp_state, path_mtu, path_mig_state, qkey, rq_psn, sq_psn, dest_qp_num,
            qp_access_flags, cap, ah_attr, alt_ah_attr, pkey_index, alt_pkey_index,
            en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic, min_rnr_timer,
            port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout, rate_limit,
        }
        ibv_sge { addr, length, lkey }
        ibv_send_wr { wr_id, next, sg_list, num_sge, opcode, send_flags, imm_data, bind_mw }
        ibv_recv_wr { wr_id, next, sg_list, num_sge }
    }
    let target = offset_of!(ibv_send_wr, ud);
    let named = [
        ("offsetof(struct ibv_send_wr, wr)", target),
        ("offsetof(struct ibv_send_wr, wr.ud.ah)", target + offset_of!(ud, ah)),
        ("offsetof(struct ibv_send_wr, wr.ud.remote_qpn)", target + offset_of!(ud, remote_qpn)),
        ("offsetof(struct ibv_send_wr, wr.ud.remote_qkey)", target + offset_of!(ud, remote_qkey)),
        (
            "offsetof(struct ibv_send_wr, qp_type.xrc.remote_srqn)",
            offset_of!(ibv_send_wr, remote_srqn),
        ),
        ("sizeof(struct ibv_context_ops)", size_of::<ibv_context_ops>()),
        ("sizeof(struct ibv_port_attr)", size_of::<ibv_port_attr>()),
        ("sizeof(struct ibv_async_event)", size_of::<ibv_async_event>()),
        ("sizeof(struct ibv_wc)", size_of::<ibv_wc>()),
        ("sizeof(union ibv_gid)", size_of::<ibv_gid>()),
        ("_Alignof(union ibv_gid)", align_of::<ibv_gid>()),
        ("sizeof(struct ibv_global_route)", size_of::<ibv_global_route>()),
        ("sizeof(struct ibv_ah_attr)", size_of::<ibv_ah_attr>()),
        ("sizeof(struct ibv_qp_cap)", size_of::<ibv_qp_cap>()),
        ("sizeof(struct ibv_qp_init_attr)", size_of::<ibv_qp_init_attr>()),
        ("sizeof(struct ibv_qp_attr)", size_of::<ibv_qp_attr>()),
        ("sizeof(struct ibv_sge)", size_of::<ibv_sge>()),
        ("sizeof(struct ibv_send_wr)", size_of::<ibv_send_wr>()),
        ("sizeof(struct ibv_recv_wr)", size_of::<ibv_recv_wr>()),
        ("sizeof(enum ibv_qp_state)", size_of::<std::ffi::c_uint>()),
    ];
    found.extend(named.map(|(name, value)| (name.to_string(), value)));
    found.extend(CONSTANTS.iter().map(|(name, value)| (name.to_string(), *value as usize)));
    found
}

#[test]
fn layouts_and_constants_are_those_of_the_header() {
    if !Need::Verbs.is_met(header("infiniband/verbs.h")) {
        return;
    }
    let expected = expected();
    let mut source = String::from(
        "#include <infiniband/verbs.h>\n#include <stddef.h>\n#include <stdio.h>\n\
         int main(void) {\n",
    );
    for (name, _) in &expected {
        source += &format!("    printf(\"%zu\\n\", (size_t)({name}));\n");
    }
    source += "    return 0;\n}\n";
    let base = std::env::temp_dir().join(format!("laneway-layouts-{}", std::process::id()));
    let (code, program) = (base.with_extension("c"), base.with_extension("bin"));
    fs::write(&code, source).expect("written");
    let compiled = Command::new("cc").arg(&code).arg("-o").arg(&program).output();
    let printed = Command::new(&program).output();
    _ = fs::remove_file(&code);
    _ = fs::remove_file(&program);
    let compiled = compiled.expect("a compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let printed = String::from_utf8(printed.expect("it runs").stdout).expect("text");
    let values: Vec<usize> = printed.lines().map(|line| line.parse().expect("a number")).collect();
    assert_eq!(values.len(), expected.len());
    for ((name, ours), theirs) in expected.iter().zip(values) {
        assert_eq!(*ours, theirs, "{name}");
    }
}

/// Every function in the version that is asked for; no device is needed to open the library.
#[test]
fn functions_are_those_of_the_library() {
    if Need::Verbs.is_met(header("infiniband/verbs.h")) {
        let opened = Library::open(Some("libibverbs.so.1"));
        assert!(opened.is_ok(), "{}", opened.err().map(|why| why.to_string()).unwrap_or_default());
    }
}
