// What an MPI takes in a plain loop, for comparison: half a round trip of 8 B; a broadcast of 8 B in
// a loop, which shows how fast the root can start one after the other; one alone after a barrier,
// from the first entry to the last exit; and one on a communicator of this rank alone, which is the
// bare call. Microseconds. The argument is the thread level: 0 is single, 1 funneled.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mpi.h>

enum { BATCHES = 21, CALLS = 2000, BYTES = 8 };

static char message[BYTES];
static double entry[CALLS], leave[CALLS], entries[2 * CALLS], exits[2 * CALLS];

// All ranks are on one machine, whose clock they share.
static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_size);
  return values[count / 2];
}

static void round_trip(MPI_Comm comm, int rank) {
  if (rank == 0) MPI_Send(message, BYTES, MPI_BYTE, 1, 0, comm);
  MPI_Recv(message, BYTES, MPI_BYTE, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(message, BYTES, MPI_BYTE, 0, 0, comm);
}

// The median over batches of what one call takes in a loop.
static double in_a_loop(MPI_Comm comm, MPI_Comm all, int rank, int trips) {
  double each[BATCHES];
  for (int batch = 0; batch < BATCHES; batch++) {
    MPI_Barrier(all);
    double begun = now_us();
    for (int call = 0; call < CALLS; call++) {
      if (trips) round_trip(comm, rank);
      else MPI_Bcast(message, BYTES, MPI_BYTE, 0, comm);
    }
    double own = (now_us() - begun) / CALLS;
    MPI_Allreduce(&own, &each[batch], 1, MPI_DOUBLE, MPI_MAX, all);
  }
  return median(each, BATCHES);
}

// The median of single broadcasts, from the first entry to the last exit.
static double isolated(MPI_Comm comm, int rank) {
  for (int call = 0; call < CALLS; call++) {
    MPI_Barrier(comm);
    entry[call] = now_us();
    MPI_Bcast(message, BYTES, MPI_BYTE, 0, comm);
    leave[call] = now_us();
  }
  MPI_Gather(entry, CALLS, MPI_DOUBLE, entries, CALLS, MPI_DOUBLE, 0, comm);
  MPI_Gather(leave, CALLS, MPI_DOUBLE, exits, CALLS, MPI_DOUBLE, 0, comm);
  for (int call = 0; rank == 0 && call < CALLS; call++) {
    double first = entries[call], last = exits[call];
    if (entries[CALLS + call] < first) first = entries[CALLS + call];
    if (exits[CALLS + call] > last) last = exits[CALLS + call];
    leave[call] = last - first;
  }
  return median(leave, CALLS);
}

int main(int argc, char **argv) {
  static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED};
  int rank, ranks, provided;
  int level = argc > 1 && atoi(argv[1]) == 1;
  MPI_Init_thread(&argc, &argv, levels[level], &provided);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (ranks != 2) MPI_Abort(comm, 2);
  double trip = in_a_loop(comm, comm, rank, 1) / 2;
  double loop = in_a_loop(comm, comm, rank, 0);
  double alone = isolated(comm, rank);
  double call = in_a_loop(MPI_COMM_SELF, comm, rank, 0);
  if (rank == 0) printf("figures %.6f %.6f %.6f %.6f\n", trip, loop, alone, call);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
