// laneway: measures MPI operations from a program in C. Written by cbindgen from bindings/c/src,
// and from bindings/c/cbindgen.toml.
//
// The functions to call are at the end; they take an MPI_Comm as the caller's mpi.h declares it.
// Those before take its Fortran handle, so that one library serves every MPI; from Fortran they
// can be called as they are. All answer a code, and laneway_last_error() says what it means; after
// a measurement laneway_last_flags() says what is to be known of each point.

#pragma once

#include <stddef.h>

#include <mpi.h>

// Done, and as precise as was asked.
#define LANEWAY_DONE 0

// An operation gave a wrong answer, or the caller's function failed.
#define LANEWAY_WRONG 1

// An argument is wrong, or differs between ranks.
#define LANEWAY_USAGE 2

// There is no MPI, it is not running, or it failed.
#define LANEWAY_ENVIRONMENT 3

// All figures are there; some are less precise than was asked, or no time above zero.
#define LANEWAY_PRECISION 4

// On the root alone, until the others have confirmed, less what a confirmation takes.
#define LANEWAY_ROOT 0

// On every rank by its own clock; the longest counts.
#define LANEWAY_MAXIMUM 1

// From the first entry to the last exit on one clock, after a barrier.
#define LANEWAY_GLOBAL 2

// All ranks begin at an agreed instant; from the first entry to the last exit.
#define LANEWAY_START_TIME 3

// Series of calls without isolation, the total of each over its length, as IMB does; the longest
// of the ranks counts. Calls overlap, so it is not the time of one.
#define LANEWAY_LOOP 4

// Each rank's part alone, acknowledged: of bcast and scatter, linear and binomial.
#define LANEWAY_TASKS 5

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, for example "0.1.0".
const char *laneway_version(void);

// What went wrong in this thread's last call, as lines "error: ", "cause: " and "try: "; empty
// where nothing did. It stays until the thread's next call.
const char *laneway_last_error(void);

// What is to be known of one point, counted from 0, of this thread's last measurement before its
// figures are trusted, on every rank: words divided by commas as in the column `flags` of the
// command, for example "no time" where it is zero or less, "resolution" where the clock hardly
// shows it, "single" where it is one repetition, "skewed start" where the ranks did not begin
// together, "nothing sent" where there is nothing to measure. Empty where there is nothing, and
// where there is no such point. It stays until the thread's next measurement.
const char *laneway_last_flags(int point);

// Collective over `comm`: does an operation by an algorithm of ours, or by MPI's own where that is
// "native": barrier, bcast, scatter, gather, allgather or alltoall of `size` bytes (of one rank's
// block, or of the vector). `in` and `out` are the buffers of the MPI function of that name, apart
// from each other, and may be NULL where they hold nothing; a broadcast has `out` alone. As in
// MPI, all ranks give matching arguments.
//
// # Safety
// Texts are C strings, and the buffers are as long as the operation needs them.
int laneway_call(int comm,
                 const char *operation,
                 const char *algorithm,
                 const void *in,
                 void *out,
                 int size,
                 int root);

// Collective over `comm`: measures an operation by an algorithm of ours, or by MPI's own where
// that is "native", for `n` sizes in bytes (of one rank's block, or of the vector). `times` in
// seconds, `reps` and `errors` have room for `n` and are filled on every rank; an error is half
// the confidence interval over the time, and NAN where one repetition cannot tell it. Every answer
// is checked before it is timed. Of 0 bytes, and on one rank, an algorithm of ours sends nothing:
// such a point has a time of NAN, no repetitions and the flags "no time" and "nothing sent".
// laneway_last_flags tells what else is to be known of a point; laneway_set chooses the root and
// what else is not an argument.
//
// # Safety
// Texts are C strings, and lists have `n` members.
int laneway_time_collective(int comm,
                            int timing,
                            const char *operation,
                            const char *algorithm,
                            int n,
                            const int *sizes,
                            int min_reps,
                            int max_reps,
                            double alpha,
                            double *times,
                            int *reps,
                            double *errors);

// Collective over `comm`: measures a function of the caller's, which all ranks call equally often.
// It answers 0 where all went well, and otherwise is called on, so that no rank waits for another,
// and fails the measurement in the end. `time`, `reps` and `error` are as in
// laneway_time_collective, of one point. LANEWAY_TASKS is refused, as nobody knows its tasks.
//
// # Safety
// The function may be called with `data`, from this thread; it throws no exception.
int laneway_time_function(int comm,
                          int timing,
                          int (*function)(void*),
                          void *data,
                          int min_reps,
                          int max_reps,
                          double alpha,
                          double *time,
                          int *reps,
                          double *error);

// Collective over `comm`: measures a function of the caller's for `n` sizes, each of which it is
// given as its second argument; what a size means is the caller's affair. All else is as in
// laneway_time_function, and `times`, `reps` and `errors` have room for `n`. A size at which the
// function fails ends the measurement.
//
// # Safety
// The function may be called with `data`, from this thread; it throws no exception. Lists have
// `n` members.
int laneway_time_function_sizes(int comm,
                                int timing,
                                int (*function)(void*, int),
                                void *data,
                                int n,
                                const int *sizes,
                                int min_reps,
                                int max_reps,
                                double alpha,
                                double *times,
                                int *reps,
                                double *errors);

// Collective over `comm`: round trips between all pairs of ranks i < j, `out` bytes there and
// `back` bytes home; one pair after the other, or where `parallel` is not 0 at the same time those
// that share no rank. Of p ranks, `times` in seconds, `reps` and `errors` have room for
// p (p - 1) / 2, by i and then j, and are filled on every rank.
//
// # Safety
// The lists have so much room.
int laneway_time_round_trips(int comm,
                             int out,
                             int back,
                             int min_reps,
                             int max_reps,
                             double alpha,
                             int parallel,
                             double *times,
                             int *reps,
                             double *errors);

// Changes how this thread's next measurements of collectives and functions are done; all ranks
// set the same, and what differs is told by the measurement. `value` is a text, or NULL for what
// holds at first, which is named first here:
//
// - "root": "0", the root of operations that have one, and the rank whose clock root timing reads;
// - "confirmation": "messages", "reduce" or "barrier", how the root learns that all are done, for
//   root timing;
// - "isolation": "barrier", "double-barrier", each also with an algorithm as in
//   "barrier:dissemination" or "barrier:native", "reduce", "p2p" or "none": what keeps repetitions
//   apart; start time and loop need none;
// - "start": "none" or any isolation: what all pass after it, right before a repetition;
// - "sync": "tree" or "offset", how clocks are compared, for global and start time;
// - "resync": "50", repetitions between two comparisons, for global timing;
// - "series": "100", calls of one series, for loop timing.
//
// # Safety
// Both are C strings, or the value is NULL.
int laneway_set(const char *name,
                const char *value);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

// The Fortran handle of a communicator: an int under every MPI. The standard binary interface has
// a function of its own for it. Where MPI is not running nothing may be asked, and the library
// says so by itself.
static inline int laneway_comm(MPI_Comm comm) {
  int begun = 0, over = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&over);
  if (!begun || over) return -1;
#if defined(MPI_ABI_VERSION) && MPI_ABI_VERSION >= 1
  return MPI_Comm_toint(comm);
#else
  return (int)MPI_Comm_c2f(comm);
#endif
}

// What measures a collective: for n message sizes M in bytes, at least min_reps and at most
// max_reps repetitions each, until the error is at most alpha (0 < alpha < 1). Equal min_reps and
// max_reps are a fixed number, and alpha is not looked at. T in seconds, reps and the error a are
// arrays of n, filled on every rank.
//
//   int laneway_measure_coll_root(MPI_Comm comm, const char *op, const char *algorithm,
//           int n, const int *M, int min_reps, int max_reps, double alpha,
//           double *T, int *reps, double *a);
//   int laneway_measure_scatter_root(MPI_Comm comm, const char *algorithm, int n, ...);
//   int laneway_measure_gather_root(MPI_Comm comm, const char *algorithm, int n, ...);
//   int laneway_measure_bcast_root(MPI_Comm comm, const char *algorithm, int n, ...);
//
// What measures any function that all ranks call together, and that answers 0: for n sizes M, each
// given to it; or once, where T, reps and a are the addresses of one value each:
//
//   int laneway_measure_function_sizes_root(MPI_Comm comm, int (*f)(void *data, int size),
//           void *data, int n, const int *M, int min_reps, int max_reps, double alpha,
//           double *T, int *reps, double *a);
//   int laneway_measure_function_root(MPI_Comm comm, int (*f)(void *data), void *data,
//           int min_reps, int max_reps, double alpha, double *T, int *reps, double *a);
//
// And the same for the other timings: ..._maximum, ..._global, ..._start_time, ..._loop; for coll,
// scatter and bcast also ..._tasks. laneway_set() chooses the root, the confirmation of root
// timing, the isolation, and how clocks are compared.

#define LANEWAY_MEASURE_(name, timing, op) \
  static inline int laneway_measure_##name( \
      MPI_Comm comm, const char *algorithm, int n, const int *M, \
      int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) { \
    return laneway_time_collective(laneway_comm(comm), timing, op, algorithm, n, M, \
                                   min_reps, max_reps, alpha, T, reps, a); \
  }

#define LANEWAY_MEASURE_COLL_(name, timing) \
  static inline int laneway_measure_coll_##name( \
      MPI_Comm comm, const char *op, const char *algorithm, int n, const int *M, \
      int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) { \
    return laneway_time_collective(laneway_comm(comm), timing, op, algorithm, n, M, \
                                   min_reps, max_reps, alpha, T, reps, a); \
  } \
  LANEWAY_MEASURE_(scatter_##name, timing, "scatter") \
  LANEWAY_MEASURE_(bcast_##name, timing, "bcast")

#define LANEWAY_MEASURE_ALL_(name, timing) \
  LANEWAY_MEASURE_COLL_(name, timing) \
  LANEWAY_MEASURE_(gather_##name, timing, "gather") \
  static inline int laneway_measure_function_sizes_##name( \
      MPI_Comm comm, int (*f)(void *, int), void *data, int n, const int *M, \
      int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) { \
    return laneway_time_function_sizes(laneway_comm(comm), timing, f, data, n, M, \
                                       min_reps, max_reps, alpha, T, reps, a); \
  } \
  static inline int laneway_measure_function_##name( \
      MPI_Comm comm, int (*f)(void *), void *data, \
      int min_reps, int max_reps, double alpha, double *T, int *reps, double *a) { \
    return laneway_time_function(laneway_comm(comm), timing, f, data, \
                                 min_reps, max_reps, alpha, T, reps, a); \
  }

LANEWAY_MEASURE_ALL_(root, LANEWAY_ROOT)
LANEWAY_MEASURE_ALL_(maximum, LANEWAY_MAXIMUM)
LANEWAY_MEASURE_ALL_(global, LANEWAY_GLOBAL)
LANEWAY_MEASURE_ALL_(start_time, LANEWAY_START_TIME)
LANEWAY_MEASURE_ALL_(loop, LANEWAY_LOOP)
LANEWAY_MEASURE_COLL_(tasks, LANEWAY_TASKS)

#undef LANEWAY_MEASURE_ALL_
#undef LANEWAY_MEASURE_COLL_
#undef LANEWAY_MEASURE_

// Round trips between all pairs of ranks i < j, M1 bytes out and M2 back: one pair after the
// other, or in parallel those that share no rank. With p ranks T, reps and a are arrays of
// p (p - 1) / 2, by i and then j, filled on every rank.
static inline int laneway_measure_p2p(
    MPI_Comm comm, int M1, int M2, int min_reps, int max_reps, double alpha, int parallel,
    double *T, int *reps, double *a) {
  return laneway_time_round_trips(laneway_comm(comm), M1, M2, min_reps, max_reps, alpha, parallel,
                                  T, reps, a);
}

// The collectives by an algorithm that was measured; sizes are those of one rank's block (scatter,
// gather) or of the vector (bcast), in bytes.

static inline int laneway_scatter(
    MPI_Comm comm, const char *algorithm, const void *send, void *receive, int size, int root) {
  return laneway_call(laneway_comm(comm), "scatter", algorithm, send, receive, size, root);
}

static inline int laneway_gather(
    MPI_Comm comm, const char *algorithm, const void *send, void *receive, int size, int root) {
  return laneway_call(laneway_comm(comm), "gather", algorithm, send, receive, size, root);
}

static inline int laneway_bcast(
    MPI_Comm comm, const char *algorithm, void *buffer, int size, int root) {
  return laneway_call(laneway_comm(comm), "bcast", algorithm, NULL, buffer, size, root);
}
