//! Which connection a packet belongs to.

/// Protocol, addresses and ports, as they stand in the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Connection {
    protocol: u8,
    addresses: [u8; 8],
    /// None for fragments and protocols without ports.
    ports: [u8; 4],
}

const HEADER_BYTES: usize = 20;
const HAS_PORTS: [u8; 3] = [libc::IPPROTO_TCP as u8, libc::IPPROTO_UDP as u8, 132];

/// Where the payload of an IPv4 packet begins; its end where it is too short to have one.
pub(super) fn find_payload(packet: &[u8]) -> usize {
    let header = packet.first().map_or(0, |first| usize::from(first & 15) * 4);
    header.max(HEADER_BYTES).min(packet.len())
}

pub(super) fn find_connection(packet: &[u8]) -> Connection {
    let mut connection = Connection::default();
    let Some(header) = packet.get(..HEADER_BYTES) else { return connection };
    connection.protocol = header[9];
    connection.addresses.copy_from_slice(&header[12..20]);
    // More fragments, or not the first one: only the first has ports, and all must stay together.
    let is_fragment = header[6] & 0x3f != 0 || header[7] != 0;
    let start = find_payload(packet);
    if let Some(ports) = packet.get(start..start + 4)
        && HAS_PORTS.contains(&connection.protocol)
        && !is_fragment
    {
        connection.ports.copy_from_slice(ports);
    }
    connection
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(protocol: u8, fragment: u16, ports: [u8; 4]) -> Vec<u8> {
        let mut packet = vec![0; 28];
        packet[0] = 0x45;
        packet[6..8].copy_from_slice(&fragment.to_be_bytes());
        packet[9] = protocol;
        packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 1, 0, 1]);
        packet[20..24].copy_from_slice(&ports);
        packet
    }

    #[test]
    fn ports_distinguish_connections_but_not_fragments() {
        let first = find_connection(&packet(6, 0x4000, [1, 2, 3, 4]));
        assert_eq!(first, find_connection(&packet(6, 0, [1, 2, 3, 4])));
        assert_ne!(first, find_connection(&packet(6, 0, [1, 2, 3, 5])));
        assert_ne!(first, find_connection(&packet(17, 0, [1, 2, 3, 4])));
        let fragment = find_connection(&packet(17, 0x2000, [1, 2, 3, 4]));
        assert_eq!(fragment, find_connection(&packet(17, 0x0010, [9, 9, 9, 9])));
        assert_eq!(
            find_connection(&packet(1, 0, [1, 2, 3, 4])),
            find_connection(&packet(1, 0, [5, 6, 7, 8]))
        );
    }

    #[test]
    fn any_bytes_have_a_payload_and_a_connection() {
        for length in 0..70 {
            for first in [0, 0x45, 0x4f, 0xff] {
                let packet = vec![first; length];
                assert!(find_payload(&packet) <= length);
                find_connection(&packet);
            }
        }
    }
}
