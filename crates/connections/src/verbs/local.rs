//! This end of a path, with what its port says of itself.

use std::sync::Arc;

use super::VerbsPath;
use super::address::PathAddress;
use super::device::Device;
use super::ffi::*;
use crate::error::NetError;

/// Routers on the way, at most.
const HOPS: u8 = 64;

pub(super) struct Local {
    pub device: Arc<Device>,
    pub path: VerbsPath,
    pub is_ethernet: bool,
    pub is_up: bool,
    /// The longest packet, in InfiniBand's code.
    pub mtu: u8,
    pub most_message: usize,
    /// Of the port itself.
    lid: u16,
    gid: [u8; 16],
}

impl Local {
    /// Opens each device once, whatever the number of its paths.
    pub fn open_all(library: Option<&str>, paths: &[VerbsPath]) -> Result<Vec<Local>, NetError> {
        let mut locals: Vec<Local> = Vec::new();
        for path in paths {
            if locals.iter().any(|local| local.path == *path) {
                let VerbsPath { device, port, path_bits, .. } = path;
                let why = format!("{device} port {port} path bits {path_bits} is given twice");
                return Err(NetError::Device { why });
            }
            let known = locals.iter().find(|local| local.path.device == path.device);
            let device = match known {
                Some(local) => Arc::clone(&local.device),
                None => Device::open(library, &path.device)?,
            };
            locals.push(Local::new(device, path)?);
        }
        Ok(locals)
    }

    fn new(device: Arc<Device>, path: &VerbsPath) -> Result<Local, NetError> {
        let VerbsPath { port, path_bits, gid_index, .. } = *path;
        let attr = device.port(port)?;
        let is_ethernet = u32::from(attr.link_layer) == IBV_LINK_LAYER_ETHERNET;
        let named = || format!("{} port {port}", path.device);
        let addresses = 1u32.checked_shl(attr.lmc.into()).unwrap_or(0);
        if u32::from(path_bits) >= addresses.max(1) {
            let why = format!("{} has {addresses} addresses (LMC {})", named(), attr.lmc);
            return Err(NetError::Device { why: format!("{why}; path bits {path_bits} are none") });
        }
        let mtu = u8::try_from(attr.active_mtu).unwrap_or(0);
        if !(IBV_MTU_256..=IBV_MTU_4096).contains(&mtu.into()) {
            return Err(NetError::Device { why: format!("{} reports no packet length", named()) });
        }
        let is_up = attr.state == IBV_PORT_ACTIVE;
        if attr.lid == 0 && !is_ethernet {
            let why = format!("{} has no address yet: is a subnet manager there?", named());
            return Err(NetError::Device { why });
        }
        let gid = if is_ethernet { device.gid(port, gid_index)? } else { [0; 16] };
        let most_message = attr.max_msg_sz as usize;
        let (lid, path) = (attr.lid, path.clone());
        Ok(Local { device, path, is_ethernet, is_up, mtu, most_message, lid, gid })
    }

    /// Where the peer finds this end of the path.
    pub fn address(&self, number: u32, key: u32) -> PathAddress {
        let lid = if self.is_ethernet { 0 } else { self.lid | u16::from(self.path.path_bits) };
        PathAddress { lid, gid: self.gid, number, key }
    }

    /// The way from here to the peer's end of the same path.
    pub fn way_to(&self, peer: &PathAddress) -> ibv_ah_attr {
        ibv_ah_attr {
            grh: ibv_global_route {
                dgid: ibv_gid { raw: peer.gid },
                flow_label: 0,
                sgid_index: self.path.gid_index,
                hop_limit: HOPS,
                traffic_class: 0,
            },
            dlid: peer.lid,
            sl: 0,
            src_path_bits: self.path.path_bits,
            static_rate: 0,
            is_global: self.is_ethernet.into(),
            port_num: self.path.port,
        }
    }

    /// Whether a port of a device is this path's.
    pub fn is_at(&self, device: &Arc<Device>, port: u8) -> bool {
        Arc::ptr_eq(&self.device, device) && self.path.port == port
    }
}
