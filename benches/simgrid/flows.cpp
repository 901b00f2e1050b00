// Permutations of flows over a fabric of explicit routes, simulated by SimGrid's S4U: the peer of
// our bare flows.
//
// The file named first says: hosts, links, bytes a second of each link, bytes of a flow,
// permutations; then, for every flow of every permutation, its two hosts and the links of its way
// after their number. What is printed: the seconds of the processor that the simulation took; then,
// for each permutation, the time of its last flow and the mean of all.

#include <simgrid/s4u.hpp>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace s4u = simgrid::s4u;

struct Flow {
  s4u::Host* from;
  s4u::Host* to;
};

static double processor_s() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  s4u::Engine engine(&argc, argv);
  std::ifstream in(argc > 1 ? argv[1] : "");
  unsigned hosts = 0, links = 0, permutations = 0;
  double rate = 0;
  uint64_t bytes = 0;
  in >> hosts >> links >> rate >> bytes >> permutations;

  s4u::NetZone* zone = s4u::create_full_zone("fabric");
  std::vector<s4u::Host*> host;
  for (unsigned i = 0; i < hosts; i++)
    host.push_back(zone->create_host("host " + std::to_string(i), 1e9)->seal());
  std::vector<s4u::LinkInRoute> link;
  for (unsigned i = 0; i < links; i++)
    link.emplace_back(zone->create_link("link " + std::to_string(i), rate)->set_latency(0)->seal());

  std::vector<std::vector<Flow>> work(permutations);
  std::set<std::pair<unsigned, unsigned>> known;
  for (auto& flows : work)
    for (unsigned i = 0; i < hosts; i++) {
      unsigned from, to, hops;
      in >> from >> to >> hops;
      std::vector<s4u::LinkInRoute> way;
      for (unsigned hop = 0, number; hop < hops && in >> number; hop++)
        way.push_back(link.at(number));
      if (!in) {
        std::fprintf(stderr, "the file of flows ends early\n");
        return 1;
      }
      flows.push_back({host.at(from), host.at(to)});
      if (known.insert({from, to}).second)
        zone->add_route(host[from]->get_netpoint(), host[to]->get_netpoint(), nullptr, nullptr,
                        way, false);
    }
  zone->seal();

  // What belongs to the first run alone is not counted.
  engine.run();
  std::vector<double> last, mean;
  double begun = processor_s();
  // Flows that the main program starts and forgets need no actor and no waiting: the fastest way
  // that S4U has.
  for (auto const& flows : work) {
    double start = s4u::Engine::get_clock();
    for (auto const& flow : flows)
      s4u::Comm::sendto_init(flow.from, flow.to)->set_payload_size(bytes)->detach();
    engine.run();
    last.push_back(s4u::Engine::get_clock() - start);
  }
  double taken = processor_s() - begun;

  // Forgotten flows do not say when they ended: once more, remembered.
  for (auto const& flows : work) {
    double start = s4u::Engine::get_clock(), sum = 0;
    std::vector<s4u::CommPtr> started;
    for (auto const& flow : flows)
      started.push_back(s4u::Comm::sendto_async(flow.from, flow.to, bytes));
    engine.run();
    for (auto const& flow : started)
      sum += flow->get_finish_time() - start;
    mean.push_back(sum / hosts);
  }
  std::printf("%.9f\n", taken);
  for (unsigned i = 0; i < permutations; i++)
    std::printf("%.17g %.17g\n", last[i], mean[i]);
  return 0;
}
