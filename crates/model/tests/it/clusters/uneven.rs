//! Platforms of several sites with uneven hosts, drawn from a seed: of LMO's own form, or with
//! something that no such model knows.

use std::fmt::Write;

use laneway_stats::SplitMix64;

/// What a platform has that LMO does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Nothing: cards, costs of hosts, latencies and limits of pairs.
    Own,
    /// Ways of short latency have more of a card.
    ByLatency,
    /// Every message has a header.
    Header,
    /// Hosts of a site share its way out.
    Uplinks,
}

/// A drawn platform.
pub struct Drawn {
    /// What is beyond the model.
    pub form: Form,
    /// The text of its file.
    pub text: String,
}

const FORMS: [Form; 3] = [Form::ByLatency, Form::Header, Form::Uplinks];
const EAGER: [u64; 6] = [0, 4096, 65_536, 65_536, 1 << 20, 1 << 30];

/// Platforms of LMO's own form have even seeds.
pub fn draw(seed: u64, hosts: u32) -> Drawn {
    let mut draws = SplitMix64::new(seed ^ 0x756e_6576_656e);
    let form = if seed.is_multiple_of(2) { Form::Own } else { FORMS[draws.index(FORMS.len())] };
    let eager = EAGER[draws.index(EAGER.len())];
    let in_order = draws.index(2) == 0;
    let sites = 1 + draws.index(3) as u32;
    let sites = if form == Form::Own { sites } else { sites.max(2) };
    let mut between = |low: f64, high: f64| low * (high / low).powf(draws.uniform());
    let mut text = format!("eager = {eager}\nin-order = {in_order}\n");
    match form {
        Form::ByLatency => text.push_str("sharing = \"by-latency\"\n"),
        Form::Header => text.push_str("header = 1500\n"),
        Form::Own | Form::Uplinks => {}
    }
    let card = between(20.0, 8000.0);
    for site in 0..sites {
        let latency = between(4.0, 60.0);
        let _ = write!(text, "[[site]]\nname = \"q{site}\"\nlatency = \"{latency:.3}us\"\n");
        if form == Form::Uplinks {
            let uplink = card * between(0.5, 2.0);
            for key in ["uplink-out", "uplink-in"] {
                let _ = writeln!(text, "{key} = \"{uplink:.3}Mbit\"");
            }
        }
    }
    for host in 0..hosts {
        let out = card * between(0.25, 1.0);
        let into = out * [1.0, 1.0, 0.5, 0.2, 2.0][between(1.0, 5.99) as usize - 1];
        let [send, receive] = [(); 2].map(|()| between(0.5, 10.0));
        let per_byte = between(0.03, 1.0);
        let _ = write!(
            text,
            "[[host]]\nname = \"h{host}\"\nsite = \"q{}\"\nrate-out = \"{out:.3}Mbit\"\n\
             rate-in = \"{into:.3}Mbit\"\nsend = \"{send:.3}us\"\nreceive = \"{receive:.3}us\"\n\
             per-byte = \"{per_byte:.5}ns\"\n",
            host % sites
        );
    }
    if sites > 1 {
        let _ = write!(text, "[wan]\nlatency = \"{:.3}us\"\n", between(100.0, 5000.0));
        if between(0.5, 2.0) > 1.0 {
            let _ = writeln!(text, "connection = \"{:.3}Mbit\"", card * between(0.2, 1.0));
        }
    }
    Drawn { form, text }
}
