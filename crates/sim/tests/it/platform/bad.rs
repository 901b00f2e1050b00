//! Bad platforms are refused, each with its line and its reason.

use laneway_stats::SplitMix64;

use super::*;

const HOSTS: &str = "[[host]]\nname = \"h[0-1]\"\nsite = \"s\"\nrate = \"1Gbit\"\n";
const SITE: &str = "[[site]]\nname = \"s\"\n";

/// The text with one line after it, and what must be said of it.
fn refused(text: &str, line: u32, fault: Fault, reason: &str) {
    let error = match read_text(text) {
        Err(error) => error,
        Ok(_) => panic!("accepted:\n{text}"),
    };
    assert_eq!((error.place.line, error.fault), (line, fault), "{error}\n{text}");
    assert!(error.reason.contains(reason), "{error} does not say {reason:?}");
    let shown = error.to_string();
    assert!(line == 0 || shown.contains(&format!("platform.toml:{line}: ")), "{shown}");
    assert!(!error.cause().is_empty());
}

/// A good platform of 6 lines, then these.
fn refused_after(lines: &str, line: u32, fault: Fault, reason: &str) {
    let good = format!("{SITE}{HOSTS}");
    read_text(&good).expect("the part before is good");
    refused(&format!("{good}{lines}"), 6 + line, fault, reason);
}

#[test]
fn values_that_no_cluster_has() {
    let cases: &[(&str, u32, &str)] = &[
        ("[[link]]\nname='l'\nrate='0bit'\n", 3, "above 0"),
        ("[[link]]\nname='l'\nrate='-1Gbit'\n", 3, "negative"),
        ("[[link]]\nname='l'\nrate='1Gb'\n", 3, "not a rate"),
        ("[[link]]\nname='l'\nrate=1000\n", 3, "not a rate"),
        ("[[link]]\nname='l'\nrate=true\n", 3, "a string, not `true`"),
        ("[[link]]\nname='l'\nrate='1Gbit'\nlatency='-5ms'\n", 4, "negative"),
        ("[[link]]\nname='l'\nrate='1Gbit'\nlatency=5\n", 4, "not a time"),
        ("[[link]]\nname='l'\nrate='1Gbit'\nlatency=nan\n", 4, "not a time"),
        ("[[link]]\nname='l'\nrate='1Gbit'\nshared='yes'\n", 4, "true or false"),
        ("[[link]]\nname='l'\nrate='1Gbit'\nduplex='both'\n", 4, "full or half"),
        ("[wan]\nlatency='1ms'\nwindow='0'\n", 3, "window of 0"),
        ("[wan]\nlatency='1ms'\nwindow='1.5K'\n", 3, "not a size"),
        ("[[host]]\nname='x'\nduplex='half'\nrate-in='1Gbit'\n", 1, "half-duplex"),
        ("[[host]]\nname='x'\nsend='-1us'\n", 3, "negative"),
        ("[[between]]\nsites=['s']\n", 2, "two names"),
        ("[[between]]\nsites=['s', 3]\n", 2, "a list of strings"),
    ];
    for (lines, line, reason) in cases {
        refused_after(lines, *line, Fault::Value, reason);
    }
}

#[test]
fn names_that_are_taken_or_that_nothing_has() {
    let cases: &[(&str, u32, &str)] = &[
        ("[[host]]\nname='h1'\nrate='1Gbit'\n", 1, "two hosts are called `h1`"),
        ("[[site]]\nname='s'\n", 1, "two sites are called `s`"),
        ("[[link]]\nname='l'\nrate='1bit'\n[[link]]\nname='l'\nrate='1bit'\n", 4, "two links"),
        ("[[host]]\nname='x'\nsite='t'\nrate='1Gbit'\n", 3, "unknown site `t`; the sites are s"),
        ("[[host]]\nname='x y'\n", 2, "no such character"),
        ("[[host]]\nname='x[3-1]'\n", 2, "3 is more than 1"),
        ("[[host]]\nname='x[0-999999999]'\n", 2, "more than 100000"),
        ("[[site]]\nname='a:b'\n", 2, "not a name"),
        ("[[between]]\nsites=['s', 't']\n", 2, "unknown site `t`"),
        ("[[between]]\nsites=['s', 's']\n", 1, "the same site"),
        ("[[route]]\nfrom='h0'\nto='h1'\nlinks=['gone']\n", 4, "unknown link `gone`"),
        ("[[route]]\nfrom='h0'\nto='h9'\nlinks=[]\n", 3, "unknown host `h9`"),
    ];
    for (lines, line, reason) in cases {
        refused_after(lines, *line, Fault::Name, reason);
    }
    let pair = "[[route]]\nfrom='h0'\nto='h1'\nlinks=[]\n";
    refused_after(&format!("{pair}{pair}"), 5, Fault::Name, "a second route from h0 to h1");
    let half = "[[link]]\nname='l'\nrate='1bit'\n[[route]]\nfrom='h0'\nto='h1'\nlinks=['l:back']\n";
    refused_after(half, 7, Fault::Name, "duplex is half");
}

#[test]
fn words_that_mean_nothing_here() {
    let cases: &[(&str, u32, &str)] = &[
        ("[[host]]\nname='x'\nrat='1Gbit'\n", 3, "did you mean `rate`?"),
        ("[[host]]\nrate='1Gbit'\n", 1, "needs `name`"),
        ("[[link]]\nname='l'\n", 1, "needs `rate`"),
        ("[[host]]\nname='x'\nrate-in='1Gbit'\n", 1, "needs `rate-out`"),
        ("[[host]]\nname='x'\nsite='s'\n", 1, "needs `rate`"),
        ("[[host]]\nname='x'\nrate='1Gbit'\nwan-rate='1Gbit'\n", 1, "no site"),
        ("[[route]]\nfrom='h0'\nto='h1'\n", 1, "needs `links`"),
        ("[[hots]]\nname='x'\n", 1, "a platform has no `hots`"),
    ];
    for (lines, line, reason) in cases {
        refused_after(lines, *line, Fault::Word, reason);
    }
}

#[test]
fn hosts_without_a_way() {
    refused_after("[[host]]\nname='x'\nrate='1Gbit'\n", 1, Fault::Way, "no path from x to h0");
    let other = "[[site]]\nname='t'\n[[host]]\nname='x'\nsite='t'\nrate='1Gbit'\n";
    let reason = "no path from h0 to x";
    refused(&format!("{SITE}{HOSTS}{other}"), 3, Fault::Way, reason);
    let one_way = "[[host]]\nname=\"x\"\nrate='1Gbit'\n\
        [[route]]\nfrom='x'\nto='h[0-1]'\nlinks=[]\nboth-ways=false\n";
    refused(&format!("{SITE}{HOSTS}{one_way}"), 3, Fault::Way, "no path from h0 to x");
    let twice = "[[link]]\nname='l'\nrate='1bit'\n[[route]]\nfrom='h0'\nto='h1'\nlinks=['l','l']\n";
    refused_after(twice, 7, Fault::Way, "twice");
    refused_after("[[route]]\nfrom='h0'\nto='h0'\nlinks=[]\n", 1, Fault::Way, "to itself");
    let endless = "[[host]]\nname='a'\n[[host]]\nname='b'\n[[route]]\nfrom='a'\nto='b'\nlinks=[]\n";
    refused(endless, 5, Fault::Way, "no link and no network card limits");
}

#[test]
fn events_that_cannot_happen() {
    let cases: &[(&str, u32, Fault, &str)] = &[
        ("host='h0'\ndown=true", 1, Fault::Word, "needs `at`"),
        ("at='-1s'\nhost='h0'\ndown=true", 2, Fault::Value, "negative"),
        ("at='1s'\ndown=true", 1, Fault::Word, "none of them is here"),
        ("at='1s'\nhost='h0'\nsite='s'\ndown=true", 4, Fault::Word, "`host` and `site` are two"),
        ("at='1s'\nhost='h0'", 1, Fault::Word, "one of rate, down, up, factor"),
        ("at='1s'\nhost='h0'\nconnection='1bit'", 1, Fault::Word, "between two `sites`"),
        ("at='1s'\nsites=['s','s']\nconnection='1bit'", 1, Fault::Name, "nothing is between"),
        ("at='1s'\nhost='h0'\ndown=true\nup=true", 5, Fault::Word, "`down` and `up` are two"),
        ("at='1s'\nhost='h0'\ndown=false", 4, Fault::Value, "true, or left out"),
        ("at='1s'\nhost='h0'\nrate='0bit'", 4, Fault::Value, "above 0"),
        ("at='1s'\nhost='h0'\nfactor=-1", 4, Fault::Value, "neither 0 nor from"),
        ("at='1s'\nhost='h0'\nfactor=nan", 4, Fault::Value, "neither 0 nor from"),
        ("at='1s'\nuntil='1s'\nhost='h0'\ndown=true", 3, Fault::Value, "after `at`"),
        ("at='1s'\nhost='h[0-2]'\ndown=true", 3, Fault::Name, "unknown host `h2`"),
        ("at='1s'\nhost='h0'\ncard='wan'\ndown=true", 3, Fault::Name, "no second card"),
        ("at='1s'\nhost='h0'\ncard='x'\ndown=true", 4, Fault::Value, "lan or wan"),
        ("at='1s'\nlink='gone'\ndown=true", 3, Fault::Name, "unknown link `gone`"),
        ("at='1s'\nsite='t'\ndown=true", 3, Fault::Name, "unknown site `t`"),
        ("at='1s'\nsite='s'\ndown=true", 3, Fault::Name, "s has no uplink"),
        ("at='1s'\nsite='s'\ncard='lan'\ndown=true", 4, Fault::Word, "refines `host`"),
        ("at='1s'\nsites=['s']\ndown=true", 3, Fault::Value, "two names"),
        ("at='1s'\nsites=['s','s']\ndown=true", 3, Fault::Name, "no rate of their own"),
        ("at='1s'\nwan=true\ndown=true", 1, Fault::Name, "no `aggregate`"),
        ("at='1s'\nhost='h0'\ndwon=true\nup=true", 4, Fault::Word, "did you mean `down`?"),
    ];
    for (lines, line, fault, reason) in cases {
        refused_after(&format!("[[event]]\n{lines}\n"), *line, *fault, reason);
    }
    refused_after("[event]\nat='1s'\n", 1, Fault::Syntax, "write it as [[event]]");
    let half = "[[host]]\nname='x'\nsite='s'\nrate='1bit'\nduplex='half'\n";
    let event = "[[event]]\nat='1s'\nhost='x'\ndirection='in'\ndown=true\n";
    refused_after(&format!("{half}{event}"), 8, Fault::Name, "duplex is half");
    let link = "[[link]]\nname='l'\nrate='1bit'\n";
    let event = "[[event]]\nat='1s'\nlink='l:back'\ndown=true\n";
    refused_after(&format!("{link}{event}"), 6, Fault::Name, "duplex is half");
    let many = "include=['cluster:100000']\n".to_string()
        + &"[[event]]\nat='1s'\nhost='node[0-99999]'\ndown=true\n".repeat(6);
    refused(&many, 22, Fault::Size, "more than 1000000 rates");
}

#[test]
fn background_without_a_sender() {
    let cases: &[(&str, u32, Fault, &str)] = &[
        ("from='h0'\nto='h0'\nrate='1bit'", 1, Fault::Way, "to itself"),
        ("from='h0'\nto='h9'\nrate='1bit'", 3, Fault::Name, "unknown host `h9`"),
        ("from='h0'\nrate='1bit'", 1, Fault::Word, "needs `to`"),
        ("from='h0'\nto='h1'", 1, Fault::Word, "one of rate, size"),
        ("from='h0'\nto='h1'\nrate='1bit'\nsize=1", 5, Fault::Word, "are two"),
        ("from='h0'\nto='h1'\nrate='1bit'\nevery='1s'", 5, Fault::Word, "refines `size`"),
        ("from='h0'\nto='h1'\nsize=1", 1, Fault::Word, "needs `every`"),
        ("from='h0'\nto='h1'\nsize=0\nevery='1s'", 4, Fault::Value, "above 0"),
        ("from='h0'\nto='h1'\nsize='9999T'\nevery='1s'", 4, Fault::Value, "above 1024T"),
        ("from='h0'\nto='h1'\nsize=1\nevery='0.1ns'", 5, Fault::Value, "at least 1ns"),
        ("from='h0'\nto='h1'\nrate='1bit'\nat='2s'\nuntil='1s'", 6, Fault::Value, "after `at`"),
    ];
    for (lines, line, fault, reason) in cases {
        refused_after(&format!("[[background]]\n{lines}\n"), *line, *fault, reason);
    }
    refused_after("[background]\nload=0.1\n", 1, Fault::Syntax, "write it as [[background]]");
    let many = "include=['cluster:400']\n[[background]]\nfrom='node[0-399]'\n\
        to='node[0-399]'\nrate='1bit'\n";
    refused(many, 2, Fault::Size, "more than 100000 pairs");
}

#[test]
fn clocks_and_settings_that_no_cluster_has() {
    let host = "[[host]]\nname='x'\nrate='1Gbit'\nsite='s'\n";
    refused_after(&format!("{host}clock-drift=2.0\n"), 5, Fault::Value, "less than 0.5");
    refused_after(&format!("{host}clock-offset='+-3'\n"), 5, Fault::Value, "not a time");
    let after = format!("{SITE}{HOSTS}");
    refused(&format!("\nretransmit='1s'\n{after}"), 2, Fault::Word, "receive-buffer");
    let both = "receive-buffer='64K'\nin-order=false\n";
    refused(&format!("{both}{after}"), 2, Fault::Value, "go in order");
    refused(&format!("header='1.5K'\n{after}"), 1, Fault::Value, "not a size");
    refused(&format!("in-order='yes'\n{after}"), 1, Fault::Value, "true or false");
}

#[test]
fn what_is_not_toml() {
    refused("[[host]\n", 1, Fault::Syntax, "not TOML");
    refused("eager = '1K'\n\nhost = = 3\n", 3, Fault::Syntax, "not TOML");
    refused("eager = '1K'\neager = '1K'\n", 2, Fault::Syntax, "not TOML");
    refused_after("[link]\nname='l'\n", 1, Fault::Syntax, "write it as [[link]]");
    refused_after("[[wan]]\nlatency='1ms'\n", 1, Fault::Syntax, "write it as [wan]");
    refused(&format!("site = {}", "[".repeat(100_000)), 1, Fault::Syntax, "not TOML");
}

#[test]
fn impossible_sizes() {
    refused("", 0, Fault::Size, "at least one host");
    refused(SITE, 0, Fault::Size, "at least one host");
    let many = "[[host]]\nname='a[0-99999]'\n[[host]]\nname='b'\n";
    refused(many, 3, Fault::Size, "100001 hosts");
    // More names than memory holds, were they all written out.
    let endless = "[[host]]\nname='a[0-99999]'\n".repeat(10_000);
    refused(&endless, 3, Fault::Size, "200000 hosts");
    let sites: String = (0..257).map(|n| format!("[[site]]\nname='s{n}'\n")).collect();
    refused(&format!("{sites}[[host]]\nname='h'\nsite='s0'\nrate='1bit'\n"), 0, Fault::Size, "257");
    let wide = "[[host]]\nname='h[0-9999]'\nrate='1bit'\n\
        [[route]]\nfrom='h[0-9999]'\nto='h[0-9999]'\nlinks=[]\n";
    refused(wide, 4, Fault::Size, "more than 1000000 pairs");
}

#[test]
fn includes_that_lead_nowhere_or_in_a_circle() {
    let folder = Folder::new();
    let first = folder.write("a.toml", "\ninclude = ['b.toml']\n");
    folder.write("b.toml", "include = [\n  'a.toml',\n]\n");
    let error = Platform::read(&first).expect_err("a circle");
    assert_eq!((error.place.line, error.fault), (2, Fault::Name));
    assert!(error.to_string().contains("b.toml:2: a cycle of includes"), "{error}");
    folder.write("b.toml", "eager = '1K'\n");
    let twice = folder.write("c.toml", "include = ['b.toml',\n'b.toml']\n");
    assert!(Platform::read(&twice).expect_err("twice").to_string().contains("c.toml:2: "));
    let both = folder.write("d.toml", "include = [\n'two-sites:2x2']\nwan = {}\n");
    let error = Platform::read(&both).expect_err("two of [wan]");
    assert!(error.to_string().contains("d.toml:3: [wan] is given at"), "{error}");
    assert!(error.to_string().ends_with("d.toml:2 too"), "{error}");
    let word = folder.write("h.toml", "include = [\n'cluster:2,latncy=1s']\n");
    let error = Platform::read(&word).expect_err("a generator's word");
    assert!(error.to_string().contains("h.toml:2: cluster has no `latncy`"), "{error}");
    let gone = folder.write("e.toml", "include = ['gone.toml']\n");
    let error = Platform::read(&gone).expect_err("no such file");
    assert!(error.to_string().ends_with("gone.toml does not exist"), "{error}");
    let inner = folder.write("f.toml", "include = ['g.toml']\n");
    folder.write("g.toml", "\n\n[[host]]\nnam = 'x'\n");
    assert!(Platform::read(&inner).expect_err("no name").to_string().contains("g.toml:3: "));
}

#[test]
fn files_that_are_none() {
    let folder = Folder::new();
    let error = Platform::read("/nowhere/x.toml").expect_err("no such file");
    assert_eq!(error.fault, Fault::Missing);
    assert_eq!(error.to_string(), "/nowhere/x.toml does not exist");
    let error = Platform::read(&folder.0.display().to_string()).expect_err("a folder");
    assert_eq!(error.fault, Fault::File);
    let path = folder.0.join("bytes.toml");
    fs::write(&path, [0xff, 0xfe, 0]).expect("a new file");
    let error = Platform::read(&path.display().to_string()).expect_err("no text");
    assert!(error.reason.contains("UTF-8"), "{error}");
}

#[test]
fn generators_that_are_none() {
    let cases = [
        ("cluster", Fault::Syntax, "write it like cluster:16"),
        ("cluster:", Fault::Syntax, "write it like"),
        ("cluster:0", Fault::Size, "at least one"),
        ("cluster:1000000000", Fault::Size, "at most 100000"),
        ("cluster:99999999999999999999", Fault::Size, "at most 100000"),
        ("cluster:-4", Fault::Syntax, "not a number of hosts"),
        ("cluster:4x4", Fault::Syntax, "write it like"),
        ("cluster:4,latency=-5ms", Fault::Value, "negative"),
        ("cluster:4,rate=0Mbit", Fault::Value, "above 0"),
        ("cluster:4,latncy=5ms", Fault::Word, "did you mean `latency`?"),
        ("cluster:4,latency=5ms,latency=6ms", Fault::Syntax, "given twice"),
        ("cluster:4,clock-drift=200%", Fault::Value, "not a drift"),
        ("cluster:4,clock-drift=2", Fault::Value, "less than 0.5"),
        ("cluster:4,clock-offset=3", Fault::Value, "not a time"),
        ("cluster:4,header=2M", Fault::Value, "above 1M"),
        ("cluster:4,seed=x", Fault::Value, "not a whole number"),
        ("cluster:4,in-order=yes", Fault::Value, "true or false"),
        ("cluster:4,connections=0", Fault::Value, "1 to 32"),
        ("cluster:4,connections=2.5", Fault::Value, "1 to 32"),
        ("cluster:4,connections=33", Fault::Value, "1 to 32"),
        ("cluster:4,connections=2,in-order=false", Fault::Value, "beside each other"),
        ("cluster:4,receive-buffer=0", Fault::Value, "above 0"),
        ("cluster:4,retransmit=1s", Fault::Word, "receive-buffer"),
        ("mpiblib16,retransmit=0", Fault::Value, "at least 1ns"),
        ("mpiblib16,loss=1.5", Fault::Value, "a part from 0 to 1"),
        ("mpiblib16,loss=nan", Fault::Value, "a part from 0 to 1"),
        ("cluster:4,loss=0.5", Fault::Word, "receive-buffer"),
        ("mpiblib16,receive-buffer=none,retransmit=1s", Fault::Word, "there is none"),
        ("mpiblib16,in-order=false", Fault::Value, "go in order"),
        ("two-sites:32", Fault::Syntax, "write it like two-sites:32x32"),
        ("two-sites:32x", Fault::Syntax, "not a number of hosts"),
        ("two-sites:99999x99999", Fault::Size, "199998 hosts"),
        ("sites:", Fault::Syntax, "write it like"),
        ("sites:1,,2", Fault::Syntax, "not a number"),
        ("mpiblib16:3", Fault::Syntax, "write it like mpiblib16"),
        ("clutser:4", Fault::Unknown, "did you mean cluster"),
        ("", Fault::Unknown, "no platform is named"),
        ("x", Fault::Unknown, "the generators are cluster, two-sites"),
    ];
    for (spec, fault, reason) in cases {
        let error = Platform::read(spec).expect_err(spec);
        assert_eq!(error.fault, fault, "{error}");
        let place = if spec.is_empty() { String::new() } else { format!("{spec}: ") };
        assert!(error.to_string().starts_with(&place), "{error}");
        assert!(error.reason.contains(reason), "{error} does not say {reason:?}");
    }
}

/// A mistake in a generator comes with the generator that was meant, whose example is a platform.
#[test]
fn a_similar_generator_is_found() {
    for (spec, example) in [
        ("clutser:4", Some("cluster:16,")),
        ("two-sites:32", Some("two-sites:32x32,")),
        ("sites:", Some("sites:32,16,8,")),
        ("nothing-like-it", None),
    ] {
        let meant = Platform::read(spec).expect_err(spec).generator();
        let advised = meant.map(|generator| generator.example);
        match (advised, example) {
            (Some(advised), Some(example)) => {
                assert!(advised.starts_with(example), "{spec}: {advised}");
                assert!(Platform::read(advised).is_ok(), "{spec}: {advised}");
            }
            (advised, example) => assert_eq!(advised, example, "{spec}"),
        }
    }
}

/// Whatever is done to a good file, the answer is a platform or a refusal.
#[test]
fn no_text_ends_in_a_panic() {
    let manual = include_str!("../../../../../docs/platforms.md");
    let examples = manual.split("```toml\n").skip(1).map(|rest| rest.split("```").next());
    let examples: Vec<&str> = examples.flatten().collect();
    let folder = Folder::new();
    let mut draws = SplitMix64::new(7);
    let mut random = |below: usize| draws.index(below);
    let mut refusals = 0;
    for _ in 0..400 {
        let mut bytes = examples[random(examples.len())].as_bytes().to_vec();
        for _ in 0..1 + random(4) {
            let (at, with) = (random(bytes.len()), b"0-.[]=\"{}, abz9\n"[random(16)]);
            match random(3) {
                0 => bytes[at] = with,
                1 => bytes.insert(at, with),
                _ => _ = bytes.drain(at..(at + random(30)).min(bytes.len())),
            }
        }
        let path = folder.write("mutant.toml", &String::from_utf8_lossy(&bytes));
        refusals += u32::from(Platform::read(&path).is_err());
    }
    assert!((100..400).contains(&refusals), "{refusals} of 400 refused");
}
