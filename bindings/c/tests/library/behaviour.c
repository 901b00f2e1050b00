// The promises of the library to a program in C, on 4 ranks: each broken one is reported, and
// counted in the exit code.

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <laneway.h>

static int faults, rank, ranks;

#define EXPECT(holds) expect((holds) != 0, #holds, __LINE__)

static void expect(int holds, const char *what, int line) {
  if (holds) return;
  faults++;
  fprintf(stderr, "rank %d, line %d: not so: %s\n%s\n", rank, line, what, laneway_last_error());
}

static int says(const char *word) { return strstr(laneway_last_error(), word) != NULL; }

static int flagged(int point, const char *word) {
  return strstr(laneway_last_flags(point), word) != NULL;
}

static double T[8], a[8];
static int reps[8];
static const int M[3] = {0, 100, 3000};

static int scatter(MPI_Comm comm, const char *algorithm, int n, const int *sizes, int min_reps,
                   int max_reps, double alpha) {
  return laneway_measure_scatter_maximum(comm, algorithm, n, sizes, min_reps, max_reps, alpha, T,
                                         reps, a);
}

static void outside_of_mpi(void) {
  EXPECT(scatter(MPI_COMM_WORLD, "linear", 3, M, 2, 2, 0.1) == LANEWAY_ENVIRONMENT);
  EXPECT(says("MPI is not running") && says("try:"));
}

static void wrong_arguments(void) {
  MPI_Comm world = MPI_COMM_WORLD;
  EXPECT(scatter(MPI_COMM_NULL, "linear", 3, M, 2, 2, 0.1) == LANEWAY_ENVIRONMENT);
  EXPECT(says("MPI_COMM_NULL"));
  EXPECT(scatter(world, "linear", 0, M, 2, 2, 0.1) == LANEWAY_USAGE && says("n is 0"));
  EXPECT(scatter(world, "linear", -1, M, 2, 2, 0.1) == LANEWAY_USAGE && says("n is -1"));
  EXPECT(scatter(world, "linear", 3, NULL, 2, 2, 0.1) == LANEWAY_USAGE && says("M is NULL"));
  EXPECT(scatter(world, NULL, 3, M, 2, 2, 0.1) == LANEWAY_USAGE && says("algorithm is NULL"));
  EXPECT(scatter(world, "lineal", 3, M, 2, 2, 0.1) == LANEWAY_USAGE && says("`linear`"));
  EXPECT(scatter(world, "linear", 3, M, 3, 2, 0.1) == LANEWAY_USAGE && says("at most 2"));
  EXPECT(scatter(world, "linear", 3, M, 0, 2, 0.1) == LANEWAY_USAGE);
  EXPECT(scatter(world, "linear", 3, M, -5, 2, 0.1) == LANEWAY_USAGE);
  EXPECT(scatter(world, "linear", 3, M, 2, 9, 0.0) == LANEWAY_USAGE);
  EXPECT(scatter(world, "linear", 3, M, 2, 9, 1.0) == LANEWAY_USAGE);
  EXPECT(scatter(world, "linear", 3, M, 2, 9, NAN) == LANEWAY_USAGE && says("alpha < 1"));
  int negative[1] = {-8};
  EXPECT(scatter(world, "linear", 1, negative, 2, 2, 0.1) == LANEWAY_USAGE && says("-8"));
  EXPECT(laneway_measure_coll_root(world, "scater", "linear", 3, M, 2, 2, 0.1, T, reps, a) ==
             LANEWAY_USAGE && says("scatter"));
  EXPECT(laneway_measure_coll_root(world, "scatter", "linear", 3, M, 2, 2, 0.1, NULL, reps, a) ==
             LANEWAY_USAGE && says("T is NULL"));
  EXPECT(laneway_measure_function_root(world, NULL, NULL, 2, 2, 0.1, T, reps, a) ==
             LANEWAY_USAGE && says("function is NULL"));
  EXPECT(laneway_measure_function_sizes_root(world, NULL, NULL, 3, M, 2, 2, 0.1, T, reps, a) ==
             LANEWAY_USAGE && says("function is NULL"));
  EXPECT(laneway_measure_coll_tasks(world, "gather", "linear", 3, M, 2, 2, 0.1, T, reps, a) ==
             LANEWAY_USAGE && says("single tasks"));
  EXPECT(laneway_measure_bcast_tasks(world, "native", 3, M, 2, 2, 0.1, T, reps, a) ==
             LANEWAY_USAGE && says("single tasks"));
  EXPECT(laneway_time_collective(laneway_comm(world), 99, "bcast", "linear", 3, M, 2, 2, 0.1, T,
                                 reps, a) == LANEWAY_USAGE && says("timing 99"));
}

// A rank alone with its arguments must not leave the others waiting.
static void differing_arguments(void) {
  EXPECT(scatter(MPI_COMM_WORLD, rank == 2 ? "none" : "linear", 3, M, 2, 2, 0.1) == LANEWAY_USAGE);
  EXPECT(says(rank == 2 ? "unknown algorithm" : "rank 2"));
  EXPECT(scatter(MPI_COMM_WORLD, rank == 1 ? "binomial" : "linear", 3, M, 2, 2, 0.1) ==
         LANEWAY_USAGE);
  EXPECT(says("rank 1"));
  EXPECT(scatter(MPI_COMM_WORLD, "linear", rank == 3 ? 2 : 3, M, 2, 2, 0.1) == LANEWAY_USAGE);
}

static void figures_are_those_of_rank_0(int n) {
  double shared[8];
  memcpy(shared, T, sizeof shared);
  MPI_Bcast(shared, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < n; i++) EXPECT(T[i] == shared[i] && T[i] > -1.0 && T[i] < 10.0);
}

typedef int Measure(MPI_Comm, const char *, const char *, int, const int *, int, int, double,
                    double *, int *, double *);

static void every_timing(void) {
  Measure *const timings[] = {laneway_measure_coll_root, laneway_measure_coll_maximum,
                              laneway_measure_coll_global, laneway_measure_coll_start_time,
                              laneway_measure_coll_loop};
  const char *const operations[] = {"gather", "allreduce"};
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 2; j++) {
      memset(reps, -1, sizeof reps);
      // Where ranks share cores, a hundred allreduces in a row take seconds; gathers do not.
      EXPECT(laneway_set("series", j == 0 ? NULL : "5") == LANEWAY_DONE);
      int code = timings[i](MPI_COMM_WORLD, operations[j], "native", 3, M, 4, 4, 0.1, T, reps, a);
      int measured = 1;
      for (int k = 0; k < 3; k++) {
        EXPECT(reps[k] == 4 && (a[k] >= 0.0 || T[k] <= 0.0));
        EXPECT(flagged(k, "no time") == !(T[k] > 0.0));
        measured = measured && T[k] > 0.0;
      }
      // Root timing takes away what a confirmation costs, which may be all there is.
      EXPECT(measured || i == 0);
      EXPECT(code == (measured ? LANEWAY_DONE : LANEWAY_PRECISION));
      EXPECT(measured ? laneway_last_error()[0] == 0 : says("zero"));
      figures_are_those_of_rank_0(3);
    }
  }
  EXPECT(laneway_set("series", NULL) == LANEWAY_DONE);
  EXPECT(scatter(MPI_COMM_WORLD, "linear", 1, M + 1, 1, 1, 0.5) == LANEWAY_DONE);
  EXPECT(reps[0] == 1 && isnan(a[0]) && flagged(0, "single"));
  EXPECT(scatter(MPI_COMM_WORLD, "linear", 1, M + 1, 2, 3, 1e-9) == LANEWAY_PRECISION);
  EXPECT(reps[0] <= 3 && T[0] > 0.0 && says("precision"));
}

// A fixed number looks at no alpha: not even whether the ranks have the same.
static void a_fixed_number_ignores_alpha(void) {
  static const double alphas[] = {0.0, 1.0, -3.0, NAN, 1e9};
  for (int i = 0; i < 5; i++) {
    double alpha = rank == 1 ? 0.3 : alphas[i];
    EXPECT(scatter(MPI_COMM_WORLD, "linear", 2, M + 1, 5, 5, alpha) == LANEWAY_DONE);
    EXPECT(reps[0] == 5 && reps[1] == 5 && a[0] >= 0.0 && a[1] >= 0.0);
  }
  EXPECT(laneway_measure_p2p(MPI_COMM_WORLD, 8, 8, 5, 5, 0.0, 1, T, reps, a) == LANEWAY_DONE);
  EXPECT(reps[0] == 5 && a[0] >= 0.0);
  EXPECT(scatter(MPI_COMM_WORLD, "linear", 2, M + 1, 5, 6, 0.0) == LANEWAY_USAGE);
  EXPECT(scatter(MPI_COMM_WORLD, "linear", 2, M + 1, 0, 0, 0.1) == LANEWAY_USAGE);
}

// What has nothing to send is not a figure, and the others of a sweep are.
static void nothing_to_send(void) {
  EXPECT(scatter(MPI_COMM_WORLD, "linear", 3, M, 3, 3, 0.1) == LANEWAY_DONE);
  EXPECT(isnan(T[0]) && isnan(a[0]) && reps[0] == 0);
  EXPECT(flagged(0, "no time") && flagged(0, "nothing sent"));
  EXPECT(T[1] > 0.0 && reps[1] == 3 && !flagged(1, "nothing sent") && T[2] > 0.0);
  EXPECT(scatter(MPI_COMM_WORLD, "binomial", 1, M, 3, 3, 0.1) == LANEWAY_PRECISION);
  EXPECT(isnan(T[0]) && says("nothing is sent"));
  EXPECT(scatter(MPI_COMM_SELF, "linear", 1, M + 1, 3, 3, 0.1) == LANEWAY_PRECISION);
  EXPECT(isnan(T[0]) && flagged(0, "nothing sent"));
  // A barrier of ours has no bytes and sends all the same.
  EXPECT(laneway_measure_coll_maximum(MPI_COMM_WORLD, "barrier", "dissemination", 1, M, 3, 3, 0.1,
                                      T, reps, a) == LANEWAY_DONE);
  EXPECT(T[0] > 0.0 && reps[0] == 3);
}

// Flags are those of the last measurement, the same on every rank, and of its points alone.
static void flags(void) {
  char own[200] = "", shared[200] = "";
  const int sizes[3] = {8, 100, 3000};
  EXPECT(scatter(MPI_COMM_WORLD, "linear", 3, sizes, 1, 1, 0.5) == LANEWAY_DONE);
  EXPECT(flagged(0, "single") && flagged(1, "single") && flagged(2, "single"));
  EXPECT(!*laneway_last_flags(3) && !*laneway_last_flags(-1) && !*laneway_last_flags(1 << 30));
  strncpy(own, laneway_last_flags(1), sizeof own - 1);
  memcpy(shared, own, sizeof own);
  MPI_Bcast(shared, sizeof shared, MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT(strcmp(own, shared) == 0);
  // Using what was measured leaves them; a measurement that is refused has none.
  EXPECT(laneway_bcast("linear", T, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD) == LANEWAY_DONE && flagged(2, "single"));
  EXPECT(scatter(MPI_COMM_WORLD, "none", 3, M, 1, 1, 0.5) == LANEWAY_USAGE &&
         !flagged(0, "single"));
}

struct counted {
  int calls, fails_on;
};

static int counts(void *data) {
  struct counted *counted = data;
  counted->calls++;
  MPI_Barrier(MPI_COMM_WORLD);
  return rank == counted->fails_on ? 7 : 0;
}

// Ours on the same communicator, while it is being measured.
static int scatters(void *data) {
  static char all[64], own[16];
  (void)data;
  return laneway_scatter("binomial", all, 16, MPI_CHAR, own, 16, MPI_CHAR, 0, MPI_COMM_WORLD);
}

// Measures something itself, twice as long, and answers with the code.
static int measures(void *data) {
  double time[2], error[2];
  int count[2];
  (void)data;
  return laneway_measure_bcast_maximum(MPI_COMM_WORLD, "linear", 2, M + 1, 1, 1, 0.5, time, count,
                                       error);
}

struct sized {
  int calls, sum, fails_at;
};

// A function that gets the size, and sends that many bytes.
static int broadcasts(void *data, int size) {
  static char bytes[3000];
  struct sized *sized = data;
  sized->calls++;
  sized->sum += size;
  MPI_Bcast(bytes, size, MPI_CHAR, 0, MPI_COMM_WORLD);
  return rank == 1 && size == sized->fails_at ? 9 : 0;
}

static void functions(void) {
  struct counted counted = {0, -1};
  EXPECT(laneway_measure_function_maximum(MPI_COMM_WORLD, counts, &counted, 5, 5, 0.1, T, reps, a) ==
         LANEWAY_DONE);
  EXPECT(counted.calls >= 5 && reps[0] == 5 && T[0] > 0.0);
  counted.fails_on = 2;
  EXPECT(laneway_measure_function_root(MPI_COMM_WORLD, counts, &counted, 5, 5, 0.1, T, reps, a) ==
         LANEWAY_WRONG);
  EXPECT(says(rank == 2 ? "returned 7" : "rank 2"));
  EXPECT(laneway_measure_function_global(MPI_COMM_WORLD, scatters, NULL, 5, 5, 0.1, T, reps, a) ==
         LANEWAY_DONE);
  EXPECT(laneway_measure_function_maximum(MPI_COMM_WORLD, measures, NULL, 3, 3, 0.1, T, reps, a) ==
         LANEWAY_DONE);
  EXPECT(reps[0] == 3 && !flagged(0, "single") && !*laneway_last_flags(1));
}

// A function has its own T, reps and a for each size, and every size has as many calls.
static void functions_of_a_size(void) {
  struct sized sized = {0, 0, -1};
  memset(reps, -1, sizeof reps);
  EXPECT(laneway_measure_function_sizes_maximum(MPI_COMM_WORLD, broadcasts, &sized, 3, M, 4, 4,
                                                0.1, T, reps, a) == LANEWAY_DONE);
  for (int i = 0; i < 3; i++) EXPECT(T[i] > 0.0 && reps[i] == 4 && a[i] >= 0.0);
  EXPECT(reps[3] == -1 && sized.calls >= 12 && sized.calls % 3 == 0);
  EXPECT(sized.sum == sized.calls / 3 * 3100);
  figures_are_those_of_rank_0(3);
  EXPECT(laneway_measure_function_sizes_loop(MPI_COMM_WORLD, broadcasts, &sized, 2, M + 1, 4, 4,
                                             0.1, T, reps, a) == LANEWAY_DONE);
  sized.fails_at = 100;
  EXPECT(laneway_measure_function_sizes_root(MPI_COMM_WORLD, broadcasts, &sized, 3, M, 4, 4, 0.1,
                                             T, reps, a) == LANEWAY_WRONG);
  EXPECT(says(rank == 1 ? "returned 9" : "rank 1"));
  EXPECT(laneway_time_function_sizes(laneway_comm(MPI_COMM_WORLD), LANEWAY_TASKS, broadcasts,
                                     &sized, 3, M, 4, 4, 0.1, T, reps, a) == LANEWAY_USAGE);
  EXPECT(says("`tasks` needs a known algorithm"));
  int n = rank == 2 ? 1 : 2;
  EXPECT(laneway_measure_function_sizes_root(MPI_COMM_WORLD, broadcasts, &sized, n, M, 4, 4, 0.1,
                                             T, reps, a) == LANEWAY_USAGE && says("rank 2"));
}

// Clocks are compared once for so few repetitions: rank 0 exchanges as many messages with
// each other rank, none of which takes less than 0.1 us there and back. One clock needs no
// comparison.
static void comparisons_take_as_many_trips(void) {
  int *one_clock = NULL, known = 0, trips = 5000;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &one_clock, &known);
  EXPECT(laneway_set("sync", "offset") == LANEWAY_DONE);
  EXPECT(laneway_set("trips", "5000") == LANEWAY_DONE);
  double begun = MPI_Wtime();
  EXPECT(laneway_measure_bcast_global(MPI_COMM_WORLD, "linear", 1, M + 1, 2, 2, 0.1, T, reps, a) !=
         LANEWAY_USAGE);
  double took = MPI_Wtime() - begun;
  EXPECT(rank > 0 || (known && *one_clock) || took > trips * (ranks - 1) * 1e-7);
  EXPECT(laneway_set("sync", NULL) == LANEWAY_DONE && laneway_set("trips", NULL) == LANEWAY_DONE);
}

static void settings(void) {
  EXPECT(laneway_set("rot", "1") == LANEWAY_USAGE && says("unknown setting"));
  EXPECT(laneway_set(NULL, "1") == LANEWAY_USAGE && says("name is NULL"));
  EXPECT(laneway_set("root", "one") == LANEWAY_USAGE && says("a rank"));
  EXPECT(laneway_set("confirmation", "nod") == LANEWAY_USAGE && says("messages"));
  EXPECT(laneway_set("isolation", "barrier:none") == LANEWAY_USAGE && says("double-barrier"));
  // Every choice measures; a root that is not there is refused by all.
  static const char *const choices[][2] = {
      {"root", "3"}, {"confirmation", "barrier"}, {"confirmation", "reduce"},
      {"isolation", "none"}, {"isolation", "p2p"}, {"isolation", "reduce"},
      {"isolation", "barrier:native"}, {"isolation", "double-barrier:tree"}, {"sync", "offset"},
      {"trips", "2"}, {"resync", "1"}, {"series", "3"}, {"cache", "cold:1M"}};
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    EXPECT(laneway_set(choices[i][0], choices[i][1]) == LANEWAY_DONE);
    int code = laneway_measure_scatter_root(MPI_COMM_WORLD, "linear", 1, M + 2, 4, 4, 0.1, T, reps,
                                            a);
    EXPECT(code == (T[0] > 0.0 ? LANEWAY_DONE : LANEWAY_PRECISION) && reps[0] == 4);
    EXPECT(laneway_measure_coll_global(MPI_COMM_WORLD, "allgather", "ring", 1, M + 2, 4, 4, 0.1, T,
                                       reps, a) == LANEWAY_DONE && T[0] > 0.0);
    EXPECT(laneway_set(choices[i][0], NULL) == LANEWAY_DONE);
  }
  // A sample of a loop is a whole series, two calls warm up, and nothing else is called.
  struct counted counted = {0, -1};
  EXPECT(laneway_set("series", "7") == LANEWAY_DONE);
  EXPECT(laneway_measure_function_loop(MPI_COMM_WORLD, counts, &counted, 5, 5, 0.1, T, reps, a) ==
         LANEWAY_DONE && reps[0] == 5 && counted.calls == 2 + 5 * 7);
  EXPECT(laneway_set("series", NULL) == LANEWAY_DONE);
  EXPECT(laneway_set("cache", "cold:1000000G") == LANEWAY_DONE);
  EXPECT(scatter(MPI_COMM_WORLD, "linear", 1, M + 1, 2, 2, 0.1) == LANEWAY_USAGE && says("memory"));
  EXPECT(laneway_set("cache", NULL) == LANEWAY_DONE);
  comparisons_take_as_many_trips();
  EXPECT(laneway_set("root", "4") == LANEWAY_DONE);
  EXPECT(scatter(MPI_COMM_WORLD, "linear", 1, M + 1, 2, 2, 0.1) == LANEWAY_USAGE && says("0 to 3"));
  EXPECT(laneway_set("root", rank == 2 ? "1" : "0") == LANEWAY_DONE);
  EXPECT(scatter(MPI_COMM_WORLD, "linear", 1, M + 1, 2, 2, 0.1) == LANEWAY_USAGE && says("rank 2"));
  // Round trips have no settings.
  EXPECT(laneway_measure_p2p(MPI_COMM_WORLD, 8, 8, 2, 2, 0.1, 0, T, reps, a) == LANEWAY_DONE);
  EXPECT(laneway_set("root", NULL) == LANEWAY_DONE);
  EXPECT(laneway_measure_scatter_tasks(MPI_COMM_WORLD, "binomial", 2, M + 1, 4, 4, 0.1, T, reps,
                                       a) != LANEWAY_USAGE && reps[0] == 4 && reps[1] == 4);
}

// Another thread has its own error, flags and settings, and may use a communicator that is not
// used meanwhile.
static void *elsewhere(void *comm) {
  static double time[1], error[1];
  static int count[1];
  EXPECT(!laneway_last_error()[0] && !*laneway_last_flags(0));
  EXPECT(laneway_measure_gather_maximum(*(MPI_Comm *)comm, "linear", 1, M + 1, 4, 4, 0.1, time,
                                        count, error) == LANEWAY_DONE);
  EXPECT(count[0] == 4 && !flagged(0, "single"));
  EXPECT(laneway_bcast("none", time, 1, MPI_DOUBLE, 0, *(MPI_Comm *)comm) == LANEWAY_USAGE);
  return NULL;
}

static void threads(int provided) {
  MPI_Comm comm = MPI_COMM_WORLD;
  pthread_t thread;
  if (provided < MPI_THREAD_SERIALIZED) return;
  EXPECT(scatter(comm, "linear", 1, M + 1, 1, 1, 0.5) == LANEWAY_DONE);
  EXPECT(laneway_set("root", "99") == LANEWAY_DONE);
  EXPECT(pthread_create(&thread, NULL, elsewhere, &comm) == 0 && !pthread_join(thread, NULL));
  EXPECT(!laneway_last_error()[0] && flagged(0, "single"));
  EXPECT(laneway_set("root", NULL) == LANEWAY_DONE);
}

static void round_trips(void) {
  for (int parallel = 0; parallel < 2; parallel++) {
    memset(reps, -1, sizeof reps);
    EXPECT(laneway_measure_p2p(MPI_COMM_WORLD, 0, 4096, 6, 6, 0.1, parallel, T, reps, a) ==
           LANEWAY_DONE);
    for (int pair = 0; pair < ranks * (ranks - 1) / 2; pair++)
      EXPECT(T[pair] > 0.0 && reps[pair] == 6 && a[pair] >= 0.0);
    figures_are_those_of_rank_0(ranks * (ranks - 1) / 2);
  }
  EXPECT(laneway_measure_p2p(MPI_COMM_WORLD, -1, 0, 6, 6, 0.1, 0, T, reps, a) == LANEWAY_USAGE);
  EXPECT(laneway_measure_p2p(MPI_COMM_WORLD, 8, 8, 1, 1, 0.1, 0, T, reps, a) == LANEWAY_DONE);
  EXPECT(flagged(0, "single") && flagged(ranks * (ranks - 1) / 2 - 1, "single"));
  // A rank alone has no pair, and needs no room.
  EXPECT(laneway_measure_p2p(MPI_COMM_SELF, 1, 1, 6, 6, 0.1, 0, NULL, NULL, NULL) == LANEWAY_DONE);
}

// The program's own messages and error handlers stay as they are.
static void nothing_is_touched(void) {
  int number = -1, kept = -1;
  MPI_Request any, own;
  MPI_Status status;
  MPI_Comm fresh;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  MPI_Isend(&rank, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &own);
  if (rank == 0) MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, fresh, &any);
  EXPECT(scatter(fresh, "binomial", 3, M, 3, 3, 0.1) == LANEWAY_DONE);
  MPI_Barrier(fresh);
  if (rank == 1) MPI_Send(&rank, 1, MPI_INT, 0, 77, fresh);
  if (rank == 0) {
    MPI_Wait(&any, &status);
    EXPECT(number == 1 && status.MPI_TAG == 77);
  }
  MPI_Recv(&kept, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &status);
  MPI_Wait(&own, &status);
  EXPECT(kept == rank);
  MPI_Errhandler handler;
  MPI_Comm all[3] = {MPI_COMM_WORLD, MPI_COMM_SELF, fresh};
  for (int i = 0; i < 3; i++) {
    MPI_Comm_get_errhandler(all[i], &handler);
    EXPECT(handler == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
  }
  MPI_Comm_free(&fresh);
}

// A communicator that goes takes along what was kept with it: MPICH has room for only some.
static void nothing_is_left(void) {
  for (int i = 0; i < 2500 && faults == 0; i++) {
    MPI_Comm alone;
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    EXPECT(laneway_bcast("linear", T, 1, MPI_DOUBLE, 0, alone) == LANEWAY_DONE);
    MPI_Comm_free(&alone);
  }
}

// A part of the ranks, in another order.
static void other_communicators(void) {
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, ranks - rank, &half);
  EXPECT(scatter(half, "binomial", 3, M, 3, 3, 0.1) == LANEWAY_DONE);
  int all[2] = {10, 11}, own = 0, place;
  MPI_Comm_rank(half, &place);
  EXPECT(laneway_scatter("linear", all, 1, MPI_INT, &own, 1, MPI_INT, 1, half) == LANEWAY_DONE);
  EXPECT(own == 10 + place);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? ranks - 2 : ranks - 1, 9, &between);
  EXPECT(scatter(between, "linear", 3, M, 3, 3, 0.1) == LANEWAY_ENVIRONMENT);
  EXPECT(says("intercommunicator"));
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
  EXPECT(strcmp(laneway_version(), VERSION) == 0);
  outside_of_mpi();
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  wrong_arguments();
  differing_arguments();
  every_timing();
  a_fixed_number_ignores_alpha();
  nothing_to_send();
  flags();
  functions();
  functions_of_a_size();
  settings();
  threads(provided);
  round_trips();
  nothing_is_touched();
  other_communicators();
  nothing_is_left();
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  outside_of_mpi();
  if (rank == 0 && faults == 0) printf("all as promised on %d ranks\n", ranks);
  return faults != 0;
}
