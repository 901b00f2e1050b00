//! Jobs on a part of a machine: every pair once, without contention, and few phases.

use laneway_core::Phases;
use laneway_needs::amount;
use laneway_stats::SplitMix64;
use laneway_topo::jobs::job::{Board, Boxed, Ground, Job, Shape, place};
use laneway_topo::routing::engines;
use laneway_topo::topologies::mlfm::FullMesh;
use laneway_topo::traffic::order::Shift;
use laneway_topo::traffic::repair::spread;
use laneway_topo::{Counter, End, Fabric, Host, Part, Topology, Wiring, reroute, topology};

/// `many` of the numbers below `of`, in order.
fn some(draws: &mut SplitMix64, many: usize, of: u32) -> Vec<u32> {
    let mut all: Vec<u32> = (0..of).collect();
    for at in 0..many {
        let other = at + draws.index(all.len() - at);
        all.swap(at, other);
    }
    all.truncate(many);
    all.sort_unstable();
    all
}

/// Every ordered pair has one phase, and every rank rests at least once.
fn assert_complete(job: &Job, what: &str) {
    let ranks = job.hosts.len();
    let mut met = vec![0u32; ranks * ranks];
    for phase in 0..job.phases() {
        for rank in 0..ranks {
            met[rank * ranks + job.order.partner(rank as u32, phase) as usize] += 1;
        }
    }
    for (pair, &times) in met.iter().enumerate() {
        match pair / ranks == pair % ranks {
            true => assert!(times >= 1, "{what}: rank {} never rests", pair / ranks),
            false => assert_eq!(times, 1, "{what}: {} to {}", pair / ranks, pair % ranks),
        }
    }
}

fn assert_no_conflict(counter: &Counter, job: &Job, hosts: u32, what: &str) {
    let tally = counter.count(&job.on_machine(hosts));
    assert_eq!((tally.worst(), tally.lost), (1, 0), "{what}");
}

fn ground<'a>(
    topology: &'a dyn Topology,
    order: &'a (dyn Phases + Sync),
    mesh: Option<&'a FullMesh>,
) -> Ground<'a> {
    Ground { wiring: topology, routing: topology, order, mesh, is_whole: true }
}

/// Any layers, any vertices, and at each switch any nodes, of every shape up to d = 6.
#[test]
fn shaped_jobs_take_a_phase_for_each_node() {
    let mut draws = SplitMix64::new(1);
    let mut shapes = 0;
    for d in 1..=6 {
        let mesh = FullMesh::new(d);
        let counter = Counter::new(&mesh, &mesh).expect("small");
        let order = mesh.order();
        for size in 1..=mesh.hosts() {
            for shape in Shape::of_size(u64::from(size), d) {
                let hosts = random_box(&mut draws, &mesh, shape);
                let ground = ground(&mesh, &*order, Some(&mesh));
                let job = Job::new(&ground, hosts, 1).expect("a box");
                let what = format!("d = {d}, {shape}");
                assert_eq!(job.shape, Some(shape), "{what}");
                assert_eq!((job.phases(), job.bound), (u64::from(size), u64::from(size)), "{what}");
                assert!(job.is_shaped());
                assert_complete(&job, &what);
                assert_no_conflict(&counter, &job, mesh.hosts(), &what);
                shapes += 1;
            }
        }
    }
    assert_eq!(shapes, 357);
}

fn random_box(draws: &mut SplitMix64, mesh: &FullMesh, shape: Shape) -> Vec<Host> {
    let layers = some(draws, shape.layers as usize, mesh.degree());
    let vertices = some(draws, shape.vertices as usize, mesh.vertices());
    let mut hosts = Vec::new();
    for &layer in &layers {
        for &vertex in &vertices {
            let first = mesh.vertex_switch(layer, vertex) * mesh.degree();
            let own = some(draws, shape.nodes as usize, mesh.degree());
            hosts.extend(own.into_iter().map(|number| first + number));
        }
    }
    hosts
}

/// With all of the mesh it is the paper's order.
#[test]
fn the_whole_mesh_keeps_its_order() {
    for d in 1..=5 {
        let mesh = FullMesh::new(d);
        let all: Vec<Host> = (0..mesh.hosts()).collect();
        let (whole, boxed) = (mesh.order(), Boxed::around(&mesh, &all));
        assert!(boxed.is_full());
        for phase in 0..whole.count() {
            for host in 0..mesh.hosts() {
                assert_eq!(boxed.partner(host, phase), whole.partner(host, phase));
            }
        }
    }
}

/// At most 1.05 of the bound or two phases more, where the bound leaves out a
/// host's message to itself, which makes it the harder one.
#[test]
fn random_sets_come_near_the_bound() {
    let mesh = FullMesh::new(8);
    let counter = Counter::new(&mesh, &mesh).expect("small");
    let order = mesh.order();
    // LANEWAY_JOB_SEEDS=5 looks at more sets.
    let seeds = std::env::var("LANEWAY_JOB_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let sizes = [2, 3, 16, 64, 144, 200, 288, 350, 432, 500, 560, 575];
    for size in sizes.into_iter().step_by(amount(4, 1)) {
        for seed in 1..=seeds.unwrap_or(1) {
            let hosts = some(&mut SplitMix64::new(100 * seed + size), size as usize, 576);
            let ground = ground(&mesh, &*order, Some(&mesh));
            let now = std::time::Instant::now();
            let job = Job::new(&ground, hosts, seed).expect("all are reached");
            let seconds = now.elapsed().as_secs_f64();
            let what = format!("{size} nodes, seed {seed}, {} of {}", job.phases(), job.bound);
            println!("{what}: {:.4} in {seconds:.2} s", job.phases() as f64 / job.bound as f64);
            assert_complete(&job, &what);
            assert_no_conflict(&counter, &job, 576, &what);
            let bound = if job.bound == size { size - 1 } else { job.bound };
            assert!(job.phases() >= job.bound, "{what}");
            assert!(job.phases() <= (bound * 105 / 100).max(bound + 2), "{what}");
        }
    }
}

/// Too large to search, and still near the bound.
#[test]
fn large_jobs_are_listed() {
    let mesh = FullMesh::new(12);
    let counter = Counter::new(&mesh, &mesh).expect("small");
    let order = mesh.order();
    let hosts = some(&mut SplitMix64::new(4), 1100, mesh.hosts());
    let job = Job::new(&ground(&mesh, &*order, Some(&mesh)), hosts, 1).expect("reached");
    let what = format!("1100 nodes, {} of {}", job.phases(), job.bound);
    println!("{what}");
    assert_complete(&job, &what);
    assert_no_conflict(&counter, &job, mesh.hosts(), &what);
    assert!(job.phases() * 100 <= job.bound * 110, "{what}");
}

/// Whatever the tree and the set: every pair once, and without contention.
#[test]
fn trees_have_jobs_too() {
    let mut draws = SplitMix64::new(5);
    for spec in ["fat-tree-2:d=4", "fat-tree-3:d=4", "fat-tree-3-half:d=4", "fat-tree-3-max:d=3"] {
        let tree = topology(spec).expect(spec);
        let (counter, order) = (Counter::new(&*tree, &*tree).expect("small"), tree.order());
        for size in [1, 2, 7, 16, tree.hosts() as usize] {
            let hosts = some(&mut draws, size, tree.hosts());
            let job = Job::new(&ground(&*tree, &*order, None), hosts, 3).expect("reached");
            let what = format!("{spec}, {size} nodes, {} of {}", job.phases(), job.bound);
            assert_complete(&job, &what);
            assert_no_conflict(&counter, &job, tree.hosts(), &what);
            assert!(job.shape.is_none() && job.phases() >= job.bound, "{what}");
            assert!(job.phases() <= job.bound + job.bound / 20 + 2, "{what}");
        }
    }
}

/// The order of a machine of which it does not know every host.
struct Partial(Box<dyn Phases + Send + Sync>);

impl Phases for Partial {
    fn count(&self) -> u64 {
        self.0.count()
    }

    fn partner(&self, rank: u32, phase: u64) -> u32 {
        let to = self.0.partner(rank, phase);
        if [rank, to].iter().any(|host| host.is_multiple_of(10)) { rank } else { to }
    }
}

/// Of all orders it has the fewest phases, and it would leave out messages.
#[test]
fn an_order_that_leaves_out_messages_is_not_taken() {
    let mesh = FullMesh::new(4);
    let counter = Counter::new(&mesh, &mesh).expect("small");
    let order = Partial(mesh.order());
    for (first, size) in [(0, 80), (8, 30)] {
        let hosts = (first..first + size).collect();
        let job = Job::new(&ground(&mesh, &order, None), hosts, 1).expect("reached");
        assert_complete(&job, &format!("{size} nodes"));
        assert_no_conflict(&counter, &job, 80, &format!("{size} nodes"));
    }
}

/// A host that is cut off does not keep the others from a job, and is not in it.
#[test]
fn an_unreachable_node_is_not_placed() {
    let mesh = FullMesh::new(4);
    let mut left = Fabric::of(&mesh);
    // Vertex switch 3 keeps its hosts and loses its cables.
    (4..8).for_each(|port| left.fail(Part::Link(3, port)));
    let table = reroute(&mesh, &mesh, &left);
    let order = mesh.order();
    let ground =
        Ground { wiring: &left, routing: &table, order: &*order, mesh: None, is_whole: false };
    let free: Vec<Host> = (0..80).collect();
    for size in [5, 40, 76] {
        let hosts = place(&ground, &free, size, 1).expect("76 reach each other");
        assert_eq!(hosts.len(), size);
        assert!(hosts.iter().all(|host| !(12..16).contains(host)), "{hosts:?}");
        assert_complete(&Job::new(&ground, hosts, 1).expect("reached"), "without four");
    }
    assert!(place(&ground, &free, 77, 1).is_err());
    assert_eq!(place(&ground, &free[10..18], 4, 1).map(|hosts| hosts.len()), Ok(4));
}

/// A cable that a box does not use costs it nothing, and one that it would use sends it elsewhere.
#[test]
fn boxes_after_a_failure() {
    let mesh = FullMesh::new(8);
    let (order, free) = (mesh.order(), (0..576).collect::<Vec<Host>>());
    for part in [Part::Link(0, 9), Part::Link(40, 15), Part::Switch(3), Part::Switch(107)] {
        let mut left = Fabric::of(&mesh);
        left.fail(part);
        let table = spread(&mesh, &mesh, &left);
        let (wiring, mesh) = (&left, Some(&mesh));
        let ground = Ground { wiring, routing: &table, order: &*order, mesh, is_whole: false };
        let counter = Counter::new(&left, &table).expect("small");
        for size in [24, 40, 72, 144] {
            let hosts = place(&ground, &free, size, 1).expect("reached");
            let job = Job::new(&ground, hosts, 1).expect("reached");
            let what = format!("{part:?}, {size} nodes, {:?}", job.shape);
            assert!(job.is_shaped(), "{what}");
            assert_complete(&job, &what);
            assert_no_conflict(&counter, &job, 576, &what);
        }
    }
    // The whole mesh less a cable is not a box any more, whatever its nodes.
    let mut left = Fabric::of(&mesh);
    left.fail(Part::Link(0, 9));
    let table = spread(&mesh, &mesh, &left);
    let (wiring, mesh) = (&left, Some(&mesh));
    let ground = Ground { wiring, routing: &table, order: &*order, mesh, is_whole: false };
    let whole = Shape { layers: 8, vertices: 9, nodes: 8 };
    assert!(mesh.is_some_and(|mesh| ground.find(mesh, &free, whole).is_none()));
    let job = Job::new(&ground, free, 1).expect("reached");
    assert!(!job.is_shaped() && job.phases() >= 656, "{}", job.phases());
    assert_complete(&job, "the whole mesh");
}

/// Hosts may be numbered across switches.
#[test]
fn switches_are_filled_whatever_the_numbers_of_their_hosts() {
    let mut fabric = Fabric::default();
    for name in ["a", "b", "c"] {
        fabric.add_switch(name, 8).expect("few ports");
    }
    for host in 0..12 {
        let host = fabric.add_host(&format!("h{host}"));
        fabric.plug((host % 3, (host / 3) as u8), End::Host(host)).expect("a free port");
    }
    for (one, other) in [((0, 4), (1, 4)), ((1, 5), (2, 4)), ((2, 5), (0, 5))] {
        fabric.plug(one, End::Switch(other.0, other.1)).expect("free ports");
    }
    let table = (engines::engine("balanced").expect("an engine").route)(&fabric, &());
    let order = Shift::new(12);
    let ground =
        Ground { wiring: &fabric, routing: &table, order: &order, mesh: None, is_whole: false };
    let free: Vec<Host> = (0..12).collect();
    assert_eq!(place(&ground, &free, 4, 1), Ok(vec![0, 3, 6, 9]));
}

#[test]
fn a_shape_is_found_where_one_is_free() {
    let mesh = FullMesh::new(8);
    let order = mesh.order();
    let ground = ground(&mesh, &*order, Some(&mesh));
    let mut draws = SplitMix64::new(9);
    for size in [24, 40, 72, 90, 144] {
        let free = some(&mut draws, 500, 576);
        let hosts = place(&ground, &free, size, 1).expect("reached");
        assert_eq!(hosts.len(), size);
        assert!(hosts.iter().all(|host| free.binary_search(host).is_ok()));
        let job = Job::new(&ground, hosts, 1).expect("reached");
        assert!(job.is_shaped() && job.phases() == size as u64, "{size}: {:?}", job.shape);
    }
    // All layers but one of vertex 0 are busy: no box of two layers holds that vertex.
    let free: Vec<Host> = (0..576).filter(|&host| mesh.place(host).1 != 0 || host < 8).collect();
    let board = Board::new(&mesh, &free);
    assert!(board.find(Shape { layers: 2, vertices: 9, nodes: 3 }).is_none());
    assert!(board.find(Shape { layers: 1, vertices: 9, nodes: 8 }).is_some());
    assert!(board.find(Shape { layers: 8, vertices: 8, nodes: 7 }).is_some());
}

/// A choice is at least as good as what a person would do: the first nodes that are free.
#[test]
fn a_choice_is_better_than_none() {
    let mut draws = SplitMix64::new(13);
    for spec in ["mlfm:d=8", "fat-tree-3:d=6"] {
        let fabric = topology(spec).expect(spec);
        let order = fabric.order();
        let mesh = FullMesh::new(8);
        let mesh = (spec == "mlfm:d=8").then_some(&mesh);
        let ground = ground(&*fabric, &*order, mesh);
        for size in [37, 101] {
            let free = some(&mut draws, 180, fabric.hosts());
            let chosen = place(&ground, &free, size, 1).expect("reached");
            assert_eq!(chosen.len(), size);
            assert!(chosen.windows(2).all(|two| two[0] < two[1]));
            assert!(chosen.iter().all(|host| free.binary_search(host).is_ok()));
            let chosen = Job::new(&ground, chosen, 1).expect("reached");
            let first = Job::new(&ground, free[..size].to_vec(), 1).expect("reached");
            assert!(chosen.bound <= first.bound, "{spec} {size}: {} {}", chosen.bound, first.bound);
        }
    }
}

#[test]
fn the_same_job_every_time() {
    let mesh = FullMesh::new(4);
    let order = mesh.order();
    let hosts = some(&mut SplitMix64::new(3), 41, 80);
    let partners = || {
        let ground = ground(&mesh, &*order, Some(&mesh));
        let job = Job::new(&ground, hosts.clone(), 7).expect("reached");
        let mut rows = vec![vec![0; 41]; job.phases() as usize];
        for (phase, row) in rows.iter_mut().enumerate() {
            job.order.partners(phase as u64, row);
        }
        rows
    };
    assert_eq!(partners(), partners());
}

#[test]
fn shapes_are_read_and_refused() {
    let shape = Shape::parse("2x4x3", 8).expect("a shape");
    assert_eq!((shape.size(), shape.to_string().as_str()), (24, "2x4x3"));
    for text in [
        "",
        "2x4",
        "2x4x3x1",
        "2x4x",
        "0x4x3",
        "9x4x3",
        "2x10x3",
        "2x4x4",
        "2x4x-1",
        "2x4x99999999999",
        "8x9x9",
        "axbxc",
    ] {
        assert!(Shape::parse(text, 8).is_err(), "{text} is a shape");
    }
    assert!(Shape::parse("8x1x8", 8).is_ok());
}
