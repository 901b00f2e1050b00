// One's own collectives with MPI's signatures, one's own experiment on subsets, and point-to-two,
// on 4 ranks: each line that is not so is reported, and counted in the exit code.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

static double T[64], a[64];
static int reps[64];
static const int counts[3] = {0, 1, 500};

// How a function of ours misbehaves.
enum { WELL, WRONG_BLOCK, TOUCHES_A_GAP, CHANGES_INPUT, ANSWERS_A_CODE, REMEMBERS } manner;
static int calls;
// Of the last calls, which differ where caches are to be cold.
static const void *places[16];

// A linear scatter of any datatypes, as usually written.
static int my_scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  int own, all;
  MPI_Aint lb, extent;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &all);
  places[calls++ % 16] = recvbuf;
  if (own == root) {
    MPI_Type_get_extent(sendtype, &lb, &extent);
    for (int i = 0; i < all; i++) {
      int block = manner == WRONG_BLOCK && i == 2 ? 1 : i;
      const char *from = (const char *)sendbuf + block * sendcount * extent;
      if (i != own) MPI_Send(from, sendcount, sendtype, i, 7, comm);
      else
        MPI_Sendrecv(from, sendcount, sendtype, own, 8, recvbuf, recvcount, recvtype, own, 8, comm,
                     MPI_STATUS_IGNORE);
    }
    if (manner == CHANGES_INPUT && sendcount) ((char *)(size_t)sendbuf)[0]++;
  } else {
    MPI_Recv(recvbuf, recvcount, recvtype, root, 7, comm, MPI_STATUS_IGNORE);
  }
  // Between two elements of a type with gaps.
  if (manner == TOUCHES_A_GAP && own == 3 && recvcount) ((char *)recvbuf)[4] = 1;
  return manner == ANSWERS_A_CODE && own == 1 ? 17 : MPI_SUCCESS;
}

static int my_gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  int code = MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  if (manner == WRONG_BLOCK && rank == root) ((int *)recvbuf)[ranks * recvcount - 1]++;
  return code;
}

static int my_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  int code = MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, 0, comm);
  return code ? code : MPI_Bcast(recvbuf, ranks * recvcount, recvtype, 0, comm);
}

static int my_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return MPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

// Broadcasts once and remembers, where it is to misbehave so.
static int my_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  static char kept[8192];
  static int known;
  int size;
  MPI_Type_size(type, &size);
  if (manner == REMEMBERS && known) {
    memcpy(buffer, kept, (size_t)count * size);
    return MPI_SUCCESS;
  }
  int code = MPI_Bcast(buffer, count, type, root, comm);
  if (manner == REMEMBERS) memcpy(kept, buffer, (size_t)count * size), known = 1;
  return code;
}

static int my_reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                     int root, MPI_Comm comm) {
  if (manner == WRONG_BLOCK) op = MPI_MAX;
  return MPI_Reduce(sendbuf, recvbuf, count, type, op, root, comm);
}

static int my_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm) {
  int code = MPI_Reduce(sendbuf, recvbuf, count, type, op, 1, comm);
  return code ? code : MPI_Bcast(recvbuf, count, type, 1, comm);
}

static int my_scatterv(const void *sendbuf, const int *sendcounts, const int *displs,
                       MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                       int root, MPI_Comm comm) {
  return MPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
                      comm);
}

static int my_gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const int *recvcounts, const int *displs, MPI_Datatype recvtype, int root,
                      MPI_Comm comm) {
  return MPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                     comm);
}

static int scatter(MPI_Datatype sendtype, MPI_Datatype recvtype, const int *sends,
                   const int *receives) {
  return laneway_measure_own_scatter_maximum(MPI_COMM_WORLD, my_scatter, sendtype, recvtype, 3,
                                             sends, receives, 4, 4, 0.1, T, reps, a);
}

static int measured(int n) {
  for (int i = 0; i < n; i++)
    if (!(T[i] > 0.0) || reps[i] != 4 || !(a[i] >= 0.0)) return 0;
  return 1;
}

static void right_answers(void) {
  MPI_Comm world = MPI_COMM_WORLD;
  manner = WELL;
  EXPECT(scatter(MPI_DOUBLE, MPI_DOUBLE, counts, counts) == LANEWAY_DONE && measured(3));
  // Two checks of a point, two calls that warm up, and the repetitions.
  calls = 0;
  EXPECT(laneway_measure_own_scatter_maximum(world, my_scatter, MPI_INT, MPI_INT, 1, counts + 2,
                                             counts + 2, 4, 4, 0.1, T, reps, a) == LANEWAY_DONE);
  EXPECT(calls == 1 + 2 + 4 + 1);
  EXPECT(places[4] == places[5] && places[5] == places[6]);
  EXPECT(laneway_set("cache", "cold:64K") == LANEWAY_DONE);
  calls = 0;
  EXPECT(laneway_measure_own_scatter_maximum(world, my_scatter, MPI_INT, MPI_INT, 1, counts + 2,
                                             counts + 2, 4, 4, 0.1, T, reps, a) == LANEWAY_DONE);
  EXPECT(calls == 1 + 2 + 4 + 1 && measured(1));
  for (int i = 1; i < 6; i++) EXPECT(places[i] != places[i + 1] && places[i] != places[0]);
  EXPECT(laneway_set("cache", NULL) == LANEWAY_DONE);
  EXPECT(laneway_measure_own_gather_global(world, my_gather, MPI_CHAR, MPI_CHAR, 3, counts, counts,
                                           4, 4, 0.1, T, reps, a) == LANEWAY_DONE && measured(3));
  EXPECT(laneway_measure_own_allgather_start_time(world, my_allgather, MPI_INT, MPI_INT, 3, counts,
                                                  counts, 4, 4, 0.1, T, reps, a) == LANEWAY_DONE);
  // A hundred in a row take seconds where ranks share cores.
  EXPECT(laneway_set("series", "5") == LANEWAY_DONE);
  EXPECT(laneway_measure_own_alltoall_loop(world, my_alltoall, MPI_LONG, MPI_LONG, 3, counts,
                                           counts, 4, 4, 0.1, T, reps, a) == LANEWAY_DONE);
  EXPECT(laneway_set("series", NULL) == LANEWAY_DONE);
  EXPECT(laneway_measure_own_bcast_maximum(world, my_bcast, MPI_SHORT, 3, counts, 4, 4, 0.1, T,
                                           reps, a) == LANEWAY_DONE && measured(3));
  const MPI_Datatype types[] = {MPI_INT, MPI_UNSIGNED_CHAR, MPI_FLOAT, MPI_DOUBLE, MPI_INT64_T};
  const MPI_Op operations[] = {MPI_SUM, MPI_PROD, MPI_MIN};
  for (int i = 0; i < 15; i++) {
    MPI_Datatype type = types[i % 5];
    MPI_Op op = operations[i / 5];
    EXPECT(laneway_measure_own_reduce_maximum(world, my_reduce, type, op, 1, counts + 2, 4, 4, 0.1,
                                              T, reps, a) == LANEWAY_DONE && measured(1));
    EXPECT(laneway_measure_own_allreduce_maximum(world, my_allreduce, type, op, 1, counts + 2, 4, 4,
                                                 0.1, T, reps, a) == LANEWAY_DONE && measured(1));
  }
}

// Columns of a matrix that arrive as rows, and elements with gaps, from any root.
static void datatypes(void) {
  MPI_Datatype vector, column, gaps;
  static const int ones[3] = {1, 1, 1}, tens[3] = {10, 10, 10}, twenties[3] = {20, 20, 20};
  MPI_Type_vector(10, 1, 4, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, sizeof(int), &column);
  MPI_Type_commit(&column);
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gaps);
  MPI_Type_commit(&gaps);
  for (int root = 0; root < ranks; root += ranks - 1) {
    char text[2] = {(char)('0' + root), 0};
    EXPECT(laneway_set("root", text) == LANEWAY_DONE);
    manner = WELL;
    EXPECT(scatter(column, MPI_INT, ones, tens) == LANEWAY_DONE && measured(3));
    EXPECT(scatter(MPI_INT, gaps, twenties, twenties) == LANEWAY_DONE && measured(3));
    EXPECT(laneway_measure_own_bcast_maximum(MPI_COMM_WORLD, my_bcast, gaps, 1, tens, 4, 4, 0.1, T,
                                             reps, a) == LANEWAY_DONE && measured(1));
    manner = TOUCHES_A_GAP;
    EXPECT(scatter(MPI_INT, gaps, tens, tens) == LANEWAY_WRONG);
    EXPECT(says(rank == 3 ? "byte 4 of rank 3" : "rank 3"));
  }
  EXPECT(laneway_set("root", NULL) == LANEWAY_DONE);
  manner = WELL;
  EXPECT(scatter(column, MPI_INT, ones, twenties) == LANEWAY_USAGE && says("differ in bytes"));
  EXPECT(laneway_measure_own_reduce_root(MPI_COMM_WORLD, my_reduce, gaps, MPI_SUM, 1, tens, 4, 4,
                                         0.1, T, reps, a) == LANEWAY_USAGE && says("number of C"));
  MPI_Type_free(&vector);
  MPI_Type_free(&column);
  MPI_Type_free(&gaps);
}

// Blocks of differing lengths, in any order and with room between them.
static void differing_blocks(void) {
  static const int lengths[4] = {3, 0, 5, 1}, at[4] = {9, 0, -2, 4}, on_top[4] = {0, 0, 2, 9};
  MPI_Comm world = MPI_COMM_WORLD;
  int own = lengths[rank];
  manner = WELL;
  EXPECT(laneway_measure_own_scatterv_maximum(world, my_scatterv, MPI_INT, MPI_INT, lengths, at,
                                              own, 4, 4, 0.1, T, reps, a) == LANEWAY_DONE);
  EXPECT(measured(1));
  EXPECT(laneway_measure_own_gatherv_maximum(world, my_gatherv, MPI_INT, MPI_INT, own, lengths, at,
                                             4, 4, 0.1, T, reps, a) == LANEWAY_DONE && measured(1));
  // What is sent may overlap, what is received may not.
  EXPECT(laneway_measure_own_scatterv_maximum(world, my_scatterv, MPI_INT, MPI_INT, lengths, on_top,
                                              own, 4, 4, 0.1, T, reps, a) == LANEWAY_DONE);
  EXPECT(laneway_measure_own_gatherv_maximum(world, my_gatherv, MPI_INT, MPI_INT, own, lengths,
                                             on_top, 4, 4, 0.1, T, reps, a) == LANEWAY_USAGE);
  EXPECT(says("overlap"));
  EXPECT(laneway_measure_own_scatterv_maximum(world, my_scatterv, MPI_INT, MPI_INT, lengths, at,
                                              own + (rank == 2), 4, 4, 0.1, T, reps, a) ==
             LANEWAY_USAGE && says(rank == 2 ? "differ in bytes" : "rank 2"));
  EXPECT(laneway_measure_own_scatterv_maximum(world, my_scatterv, MPI_INT, MPI_INT, NULL, at, own,
                                              4, 4, 0.1, T, reps, a) == LANEWAY_USAGE);
  EXPECT(says("NULL"));
}

// A function that does not do what MPI does has no figure, on any rank.
static void wrong_answers(void) {
  MPI_Comm world = MPI_COMM_WORLD;
  T[0] = T[1] = 55.0;
  manner = WRONG_BLOCK;
  EXPECT(laneway_measure_own_scatter_root(world, my_scatter, MPI_INT, MPI_INT, 2, counts + 1,
                                          counts + 1, 4, 4, 0.1, T, reps, a) == LANEWAY_WRONG);
  EXPECT(says(rank == 2 ? "MPI_Scatter" : "rank 2") && T[0] == 55.0 && !*laneway_last_flags(0));
  EXPECT(laneway_measure_own_gather_root(world, my_gather, MPI_INT, MPI_INT, 1, counts + 2,
                                         counts + 2, 4, 4, 0.1, T, reps, a) == LANEWAY_WRONG);
  EXPECT(laneway_measure_own_reduce_root(world, my_reduce, MPI_DOUBLE, MPI_SUM, 1, counts + 2, 4, 4,
                                         0.1, T, reps, a) == LANEWAY_WRONG);
  manner = CHANGES_INPUT;
  EXPECT(scatter(MPI_INT, MPI_INT, counts, counts) == LANEWAY_WRONG);
  EXPECT(says(rank == 0 ? "send buffer is changed" : "rank 0"));
  manner = ANSWERS_A_CODE;
  EXPECT(scatter(MPI_INT, MPI_INT, counts, counts) == LANEWAY_WRONG);
  EXPECT(says(rank == 1 ? "returned 17" : "rank 1"));
  // What is right at first and wrong afterwards is taken back.
  manner = REMEMBERS;
  T[0] = 55.0;
  EXPECT(laneway_measure_own_bcast_maximum(world, my_bcast, MPI_INT, 1, counts + 2, 4, 4, 0.1, T,
                                           reps, a) == LANEWAY_WRONG);
  EXPECT(isnan(T[0]) && reps[0] == 0 && strstr(laneway_last_flags(0), "wrong answer") != NULL);
  manner = WELL;
}

static void wrong_arguments(void) {
  MPI_Comm world = MPI_COMM_WORLD;
  static const int negative[3] = {1, -1, 1}, huge[3] = {1, 2147483647, 1};
  MPI_Datatype vast;
  manner = WELL;
  EXPECT(laneway_measure_own_scatter_root(world, NULL, MPI_INT, MPI_INT, 3, counts, counts, 4, 4,
                                          0.1, T, reps, a) == LANEWAY_USAGE && says("is NULL"));
  EXPECT(scatter(MPI_INT, MPI_INT, NULL, counts) == LANEWAY_USAGE && says("NULL"));
  EXPECT(scatter(MPI_INT, MPI_INT, counts, NULL) == LANEWAY_USAGE && says("NULL"));
  EXPECT(scatter(MPI_INT, MPI_INT, negative, negative) == LANEWAY_USAGE && says("negative"));
  EXPECT(scatter(MPI_DATATYPE_NULL, MPI_INT, counts, counts) == LANEWAY_USAGE);
  EXPECT(says("MPI_DATATYPE_NULL"));
  EXPECT(scatter(MPI_INT, MPI_LONG_LONG, counts, counts) == LANEWAY_USAGE && says("point 1"));
  EXPECT(laneway_measure_own_reduce_root(world, my_reduce, MPI_INT, MPI_OP_NULL, 3, counts, 4, 4,
                                         0.1, T, reps, a) == LANEWAY_USAGE && says("MPI_OP_NULL"));
  EXPECT(laneway_measure_own_bcast_root(world, my_bcast, MPI_INT, 0, counts, 4, 4, 0.1, T, reps,
                                        a) == LANEWAY_USAGE && says("n is 0"));
  EXPECT(laneway_measure_own_bcast_root(world, my_bcast, MPI_INT, 3, counts, 4, 3, 0.1, T, reps,
                                        a) == LANEWAY_USAGE);
  EXPECT(laneway_measure_own_bcast_root(world, my_bcast, MPI_INT, 3, counts, 4, 4, 0.1, NULL, reps,
                                        a) == LANEWAY_USAGE && says("T is NULL"));
  EXPECT(laneway_measure_own_bcast_root(MPI_COMM_NULL, my_bcast, MPI_INT, 3, counts, 4, 4, 0.1, T,
                                        reps, a) == LANEWAY_ENVIRONMENT);
  int differing[3] = {1, rank == 1 ? 5 : 4, 1};
  EXPECT(scatter(MPI_INT, MPI_INT, differing, differing) == LANEWAY_USAGE && says("rank 1"));
  // More than any memory, and more than any address.
  MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 40, &vast);
  MPI_Type_commit(&vast);
  EXPECT(scatter(vast, vast, huge, huge) == LANEWAY_USAGE && says("too long"));
  EXPECT(laneway_time_own(laneway_comm(world), LANEWAY_ROOT, "Bcast", NULL, NULL, NULL, 1, 4, 4,
                          0.1, T, reps, a) == LANEWAY_USAGE);
  EXPECT(laneway_time_own(laneway_comm(world), LANEWAY_TASKS, "Bcast", NULL, NULL, NULL, 1, 4, 4,
                          0.1, T, reps, a) == LANEWAY_USAGE && says("`tasks` needs a known algorithm"));
  MPI_Type_free(&vast);
  EXPECT(laneway_set("root", "9") == LANEWAY_DONE);
  EXPECT(scatter(MPI_INT, MPI_INT, counts, counts) == LANEWAY_USAGE && says("0 to 3"));
  EXPECT(laneway_set("root", NULL) == LANEWAY_DONE);
}

struct seen {
  int calls, places, wrong, fails_on, bad_time;
};

// A message goes around the subset, over the caller's own communicator.
static int around(void *data, int count, const int *members, int place, double *seconds) {
  struct seen *seen = data;
  int token = 0, next = members[(place + 1) % count], last = members[(place + count - 1) % count];
  seen->calls++;
  seen->places |= 1 << place;
  seen->wrong += members[place] != rank;
  if (count > 1) {
    if (place == 0) MPI_Send(&seen->calls, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (place > 0) MPI_Send(&token, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
  }
  if (seen->bad_time) *seconds = seen->bad_time > 1 ? INFINITY : -1.0;
  return rank == seen->fails_on ? 5 : 0;
}

// Tells its own time: that of the subset's number.
static int tells(void *data, int count, const int *members, int place, double *seconds) {
  (void)data;
  if (place == 0) *seconds = count + 0.1 * members[0];
  return 0;
}

static int experiment(int (*f)(void *, int, const int *, int, double *), void *data, int n,
                      const int *lengths, const int *members, int parallel) {
  return laneway_measure_experiment(MPI_COMM_WORLD, f, data, n, lengths, members, parallel, 4, 4,
                                    0.1, T, reps, a);
}

static void experiments(void) {
  static const int lengths[5] = {2, 3, 1, 4, 2}, members[12] = {2, 3, 0, 1, 2, 1, 3, 2, 1, 0, 2, 3};
  static const double expected[5] = {2.2, 3.0, 1.1, 4.3, 2.2};
  for (int parallel = 0; parallel < 2; parallel++) {
    struct seen seen = {0, 0, 0, -1, 0};
    memset(reps, -1, sizeof reps);
    EXPECT(experiment(around, &seen, 5, lengths, members, parallel) == LANEWAY_DONE && measured(5));
    EXPECT(reps[5] == -1 && seen.wrong == 0 && seen.calls >= 4 && seen.places);
    EXPECT(experiment(tells, NULL, 5, lengths, members, parallel) == LANEWAY_DONE);
    for (int i = 0; i < 5; i++) EXPECT(fabs(T[i] - expected[i]) < 1e-12);
  }
  struct seen seen = {0, 0, 0, 3, 0};
  EXPECT(experiment(around, &seen, 5, lengths, members, 1) == LANEWAY_WRONG);
  EXPECT(says(rank == 3 ? "returned 5" : "rank 3"));
  seen.fails_on = -1;
  for (seen.bad_time = 1; seen.bad_time < 3; seen.bad_time++)
    EXPECT(experiment(around, &seen, 1, lengths, members, 1) == LANEWAY_WRONG);
  seen.bad_time = 0;
  EXPECT(laneway_measure_experiment(MPI_COMM_WORLD, around, &seen, 1, lengths, members, 0, 2, 3,
                                    1e-9, T, reps, a) == LANEWAY_PRECISION);
}

static void wrong_subsets(void) {
  static const int two[1] = {2}, none[1] = {0}, five[1] = {5}, minus[1] = {-1};
  static const int twice[2] = {1, 1}, beyond[2] = {0, 4}, below[2] = {-1, 0}, fine[2] = {0, 1};
  struct seen seen = {0, 0, 0, -1, 0};
  EXPECT(experiment(NULL, NULL, 1, two, fine, 0) == LANEWAY_USAGE && says("experiment is NULL"));
  EXPECT(experiment(around, &seen, 0, two, fine, 0) == LANEWAY_USAGE && says("n is 0"));
  EXPECT(experiment(around, &seen, 1, NULL, fine, 0) == LANEWAY_USAGE && says("lengths is NULL"));
  EXPECT(experiment(around, &seen, 1, two, NULL, 0) == LANEWAY_USAGE && says("members is NULL"));
  EXPECT(experiment(around, &seen, 1, none, fine, 0) == LANEWAY_USAGE && says("0 members"));
  EXPECT(experiment(around, &seen, 1, minus, fine, 0) == LANEWAY_USAGE);
  EXPECT(experiment(around, &seen, 1, five, fine, 0) == LANEWAY_USAGE && says("5 members"));
  EXPECT(experiment(around, &seen, 1, two, twice, 0) == LANEWAY_USAGE && says("each of them once"));
  EXPECT(experiment(around, &seen, 1, two, beyond, 0) == LANEWAY_USAGE && says("no rank 4"));
  EXPECT(experiment(around, &seen, 1, two, below, 0) == LANEWAY_USAGE && says("no rank -1"));
  int differing[2] = {0, rank == 2 ? 1 : 2};
  EXPECT(experiment(around, &seen, 1, two, differing, 0) == LANEWAY_USAGE && says("rank 2"));
  EXPECT(seen.calls == 0);
}

static void point_to_two(void) {
  int triples = ranks * (ranks - 1) * (ranks - 2) / 2;
  for (int parallel = 0; parallel < 2; parallel++) {
    memset(reps, -1, sizeof reps);
    EXPECT(laneway_measure_point_to_two(MPI_COMM_WORLD, 1000, 4, 4, 0.1, parallel, T, reps, a) ==
           LANEWAY_DONE && measured(triples) && reps[triples] == -1);
  }
  EXPECT(laneway_measure_point_to_two(MPI_COMM_WORLD, 0, 4, 4, 0.1, 1, T, reps, a) == LANEWAY_DONE);
  EXPECT(laneway_measure_point_to_two(MPI_COMM_WORLD, 8, 1, 1, 0.1, 1, T, reps, a) == LANEWAY_DONE);
  EXPECT(strcmp(laneway_last_flags(triples - 1), "single") == 0);
  EXPECT(laneway_measure_point_to_two(MPI_COMM_WORLD, -1, 4, 4, 0.1, 1, T, reps, a) ==
             LANEWAY_USAGE && says("-1 bytes"));
  EXPECT(laneway_measure_point_to_two(MPI_COMM_WORLD, 8, 4, 4, 0.1, 1, NULL, reps, a) ==
             LANEWAY_USAGE && says("T is NULL"));
  EXPECT(laneway_measure_point_to_two(MPI_COMM_WORLD, rank == 3, 4, 4, 0.1, 1, T, reps, a) ==
             LANEWAY_USAGE && says("rank 3"));
  // A rank alone is not a triple, and needs no room.
  EXPECT(laneway_measure_point_to_two(MPI_COMM_SELF, 8, 4, 4, 0.1, 1, NULL, NULL, NULL) ==
         LANEWAY_DONE);
}

int main(int argc, char **argv) {
  EXPECT(laneway_measure_own_bcast_root(MPI_COMM_WORLD, my_bcast, MPI_INT, 3, counts, 4, 4, 0.1, T,
                                        reps, a) == LANEWAY_ENVIRONMENT);
  EXPECT(says("MPI is not running"));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right_answers();
  datatypes();
  differing_blocks();
  wrong_answers();
  wrong_arguments();
  experiments();
  wrong_subsets();
  point_to_two();
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0 && faults == 0) printf("one's own as promised on %d ranks\n", ranks);
  return faults != 0;
}
