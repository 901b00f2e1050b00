// The collectives of MPI by every algorithm of ours against MPI's own, byte by byte, on 4 ranks:
// datatypes with gaps and in another order, in place, from any root, blocks of any lengths and
// displacements, all operators and numbers, operators of the program. And what is refused.
//
//   call OPERATION ALGORITHM,ALGORITHM...  [OPERATION ALGORITHM,...]

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laneway.h>

enum { RANKS = 4, BASE = 2048, BYTES = 65536, BACKGROUND = 0xA5 };

static int faults, rank, ranks;

#define EXPECT(holds) expect((holds) != 0, #holds, __LINE__)

static void expect(int holds, const char *what, int line) {
  if (holds) return;
  faults++;
  if (faults < 20)
    fprintf(stderr, "rank %d, line %d: not so: %s\n%s\n", rank, line, what, laneway_last_error());
}

static int says(const char *word) { return strstr(laneway_last_error(), word) != NULL; }

// Buffers of MPI's own call and of ours.
static union {
  char bytes[2][BYTES];
  long double aligned;
} in_room, out_room;
#define sent in_room.bytes
#define got out_room.bytes
static MPI_Datatype gaps, turned, matrix, apart, shifted;
static MPI_Op multiply, add_apart;

static int is_intels(void) {
  char name[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(name, &length);
  return strstr(name, "Intel") != NULL;
}

// The MPI function with the same arguments.
static int mpis_own(const laneway_call_options *c, MPI_Comm comm) {
  const void *in = c->sendbuf;
  void *out = c->recvbuf;
  int n = c->sendcount, m = c->recvcount;
  switch (c->operation) {
    case LANEWAY_BARRIER: return MPI_Barrier(comm);
    case LANEWAY_BCAST: return MPI_Bcast(out, m, c->recvtype, c->root, comm);
    case LANEWAY_SCATTER:
      return MPI_Scatter(in, n, c->sendtype, out, m, c->recvtype, c->root, comm);
    case LANEWAY_SCATTERV:
      return MPI_Scatterv(in, c->sendcounts, c->sdispls, c->sendtype, out, m, c->recvtype, c->root,
                          comm);
    case LANEWAY_GATHER: return MPI_Gather(in, n, c->sendtype, out, m, c->recvtype, c->root, comm);
    case LANEWAY_GATHERV:
      return MPI_Gatherv(in, n, c->sendtype, out, c->recvcounts, c->rdispls, c->recvtype, c->root,
                         comm);
    case LANEWAY_REDUCE: return MPI_Reduce(in, out, m, c->recvtype, c->op, c->root, comm);
    case LANEWAY_ALLREDUCE: return MPI_Allreduce(in, out, m, c->recvtype, c->op, comm);
    case LANEWAY_ALLGATHER:
      // On processors of Intel, the allgather of Intel MPI 2021.19 leaves out parts of blocks whose
      // two datatypes differ. Its allgatherv does not.
      if (is_intels() && strcmp(c->algorithm, "native") != 0) {
        int counts[RANKS], places[RANKS];
        for (int r = 0; r < ranks; r++) counts[r] = m, places[r] = r * m;
        return MPI_Allgatherv(in, n, c->sendtype, out, counts, places, c->recvtype, comm);
      }
      return MPI_Allgather(in, n, c->sendtype, out, m, c->recvtype, comm);
    case LANEWAY_ALLGATHERV:
      return MPI_Allgatherv(in, n, c->sendtype, out, c->recvcounts, c->rdispls, c->recvtype, comm);
    case LANEWAY_ALLTOALL: return MPI_Alltoall(in, n, c->sendtype, out, m, c->recvtype, comm);
    case LANEWAY_ALLTOALLV:
      return MPI_Alltoallv(in, c->sendcounts, c->sdispls, c->sendtype, out, c->recvcounts,
                           c->rdispls, c->recvtype, comm);
    case LANEWAY_REDUCE_SCATTER:
      return MPI_Reduce_scatter(in, out, c->recvcounts, c->recvtype, c->op, comm);
    case LANEWAY_REDUCE_SCATTER_BLOCK:
      return MPI_Reduce_scatter_block(in, out, m, c->recvtype, c->op, comm);
    case LANEWAY_SCAN: return MPI_Scan(in, out, m, c->recvtype, c->op, comm);
    case LANEWAY_EXSCAN: return MPI_Exscan(in, out, m, c->recvtype, c->op, comm);
  }
  return MPI_ERR_OTHER;
}

// How numbers are filled: bytes, or numbers of this size, of which a negative one is a double's.
enum fill { ANY_BYTES, FLOATS, DOUBLES, WHOLE_1, WHOLE_2, WHOLE_4, WHOLE_8 };

static void fill_buffers(enum fill fill, int in_place) {
  for (int i = 0; i < BYTES; i++) {
    sent[0][i] = (char)(i * 31 + (i >> 8) * 17 + rank * 101);
    got[0][i] = (char)BACKGROUND;
  }
  for (int i = 0; fill != ANY_BYTES && i < BYTES / 8; i++) {
    int value = 1 + (i * 7 + rank * 5) % 3;
    if (fill == FLOATS) ((float *)sent[0])[i] = (float)value, ((float *)sent[0])[i + BYTES / 8] = 2;
    if (fill == DOUBLES) ((double *)sent[0])[i] = value;
    if (fill == WHOLE_1)
      for (int k = 0; k < 8; k++) sent[0][8 * i + k] = (char)(value + k % 2);
    if (fill == WHOLE_2)
      for (int k = 0; k < 4; k++) ((short *)sent[0])[4 * i + k] = (short)(value + k % 2);
    if (fill == WHOLE_4) ((int *)sent[0])[2 * i] = value, ((int *)sent[0])[2 * i + 1] = 3 - value;
    if (fill == WHOLE_8) ((long long *)sent[0])[i] = value;
  }
  // In place, the input is in the receive buffer.
  if (in_place) memcpy(got[0], sent[0], BYTES);
  memcpy(sent[1], sent[0], BYTES);
  memcpy(got[1], got[0], BYTES);
}

static const char *doing;

// Makes a call by MPI and by us with equal buffers. An algorithm may refuse it, on all ranks alike;
// whether it did.
static int compare(laneway_call_options call, enum fill fill, int in_place, MPI_Comm comm) {
  int codes[2];
  fill_buffers(fill, in_place);
  for (int k = 0; k < 2; k++) {
    int scatters = call.operation == LANEWAY_SCATTER || call.operation == LANEWAY_SCATTERV;
    int rooted = scatters || call.operation == LANEWAY_GATHER ||
                 call.operation == LANEWAY_GATHERV || call.operation == LANEWAY_REDUCE;
    int here = in_place && (!rooted || rank == call.root);
    call.sendbuf = here && !scatters ? MPI_IN_PLACE : sent[k] + BASE;
    call.recvbuf = here && scatters ? MPI_IN_PLACE : got[k] + BASE;
    if (call.operation == LANEWAY_BCAST && rank == call.root) memcpy(got[k], sent[k], BYTES);
    codes[k] = k ? laneway_call(comm, &call) : mpis_own(&call, comm);
  }
  if (codes[1] == LANEWAY_USAGE && says("the algorithm cannot do it")) return 0;
  int equal = memcmp(sent[0], sent[1], BYTES) == 0;
  int compared = BYTES;
  // What an exclusive scan leaves on rank 0, and a reduction in place behind its block, is undefined.
  if (call.operation == LANEWAY_EXSCAN && rank == 0) compared = 0;
  if (in_place && call.operation >= LANEWAY_REDUCE_SCATTER && call.operation < LANEWAY_SCAN) {
    int blocks = call.operation == LANEWAY_REDUCE_SCATTER ? call.recvcounts[rank] : call.recvcount;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(call.recvtype, &lb, &extent);
    compared = BASE + blocks * (int)extent;
  }
  // Intel MPI's own reductions write to the gaps of a datatype: ours must not, and both leave the
  // same numbers.
  for (int i = BASE; call.recvtype == apart && i < BYTES - 12; i += 12) {
    const char *before = in_place ? sent[0] : NULL;
    for (int k = 4; k < 12; k++) {
      if (strcmp(call.algorithm, "native") != 0)
        equal &= got[1][i + k] == (before ? before[i + k] : (char)BACKGROUND);
      got[0][i + k] = got[1][i + k];
    }
  }
  equal &= memcmp(got[0], got[1], (size_t)compared) == 0;
  if (codes[0] || codes[1] || !equal) {
    int at = 0;
    while (at < BYTES - 1 && got[0][at] == got[1][at]) at++;
    if (faults++ < 10)
      fprintf(stderr, "rank %d: %s: codes %d and %d, counts %d %d, root %d, %s, byte %d: %s\n",
              rank, doing, codes[0], codes[1], call.sendcount, call.recvcount, call.root,
              in_place ? "in place" : "apart", at - BASE, laneway_last_error());
  }
  return 1;
}

static int may_be_in_place(enum laneway_operation operation) {
  return operation != LANEWAY_BARRIER && operation != LANEWAY_BCAST;
}

static int reduces(enum laneway_operation operation) {
  return operation == LANEWAY_REDUCE || operation == LANEWAY_ALLREDUCE ||
         operation >= LANEWAY_REDUCE_SCATTER;
}

// An algorithm with pairs of datatypes that have the same data: two ints an element.
static int moves(enum laneway_operation operation, const char *algorithm, MPI_Comm comm) {
  const MPI_Datatype types[] = {MPI_INT, MPI_INT, turned, gaps, gaps};
  static const int each[] = {2, 2, 1, 1, 1}, elements[] = {0, 1, 150};
  // Displacements with room between blocks and in another order, and none of the second block.
  static const int lengths[RANKS] = {3, 0, 40, 7}, at[RANKS] = {60, 5, 0, 70};
  int done = 0;
  for (int i = 0; i < 10; i++) {
    int from = i % 5, to = (i + i / 2) % 5, in_place = i % 3 == 2 && may_be_in_place(operation);
    if (in_place) from = to;
    int counts[2][RANKS], places[2][RANKS];
    laneway_call_options call = LANEWAY_CALL_OPTIONS;
    call.operation = operation;
    call.algorithm = algorithm;
    call.root = i % 2 ? ranks - 1 : i / 4 % ranks;
    call.sendtype = types[from];
    call.recvtype = types[to];
    call.sendcount = each[from] * elements[i % 3];
    call.recvcount = each[to] * elements[i % 3];
    for (int r = 0; r < ranks; r++) {
      // An exchange has for each pair what both know.
      int length = lengths[operation == LANEWAY_ALLTOALLV ? (r + rank) % RANKS : r];
      counts[0][r] = each[from] * length;
      counts[1][r] = each[to] * length;
      places[0][r] = each[from] * at[operation == LANEWAY_ALLTOALLV ? (r + rank) % RANKS : r];
      places[1][r] = each[to] * at[operation == LANEWAY_ALLTOALLV ? (r + rank) % RANKS : r];
    }
    call.sendcounts = counts[0];
    call.sdispls = places[0];
    call.recvcounts = counts[1];
    call.rdispls = places[1];
    if (operation == LANEWAY_SCATTERV) call.recvcount = each[to] * lengths[rank];
    if (operation == LANEWAY_GATHERV || operation == LANEWAY_ALLGATHERV)
      call.sendcount = each[from] * lengths[rank];
    // Those who know only their own lengths have no lists.
    int lists = operation != LANEWAY_SCATTERV && operation != LANEWAY_GATHERV;
    if (!lists && rank != call.root)
      call.sendcounts = call.sdispls = call.recvcounts = call.rdispls = NULL;
    done += compare(call, ANY_BYTES, in_place, comm);
  }
  return done;
}

// An algorithm with numbers, pairs of numbers, and operators of the program's own.
static int reduces_well(enum laneway_operation operation, const char *algorithm, MPI_Comm comm) {
  static const int counts[RANKS] = {5, 0, 31, 8}, vectors[] = {0, 1, 130};
  const struct {
    MPI_Datatype type;
    MPI_Op op;
    enum fill fill;
  } cases[] = {{MPI_DOUBLE, MPI_SUM, DOUBLES},   {MPI_INT, MPI_PROD, WHOLE_4},
               {matrix, multiply, WHOLE_4},      {apart, add_apart, WHOLE_4},
               {MPI_2INT, MPI_MAXLOC, WHOLE_4},  {MPI_FLOAT, MPI_MAX, FLOATS},
               {matrix, multiply, WHOLE_4}};
  int done = 0;
  for (int i = 0; i < 14; i++) {
    laneway_call_options call = LANEWAY_CALL_OPTIONS;
    call.operation = operation;
    call.algorithm = algorithm;
    call.root = i % 3 ? 0 : ranks - 1;
    call.recvcount = vectors[(i + 1) % 3];
    call.recvcounts = counts;
    call.recvtype = cases[i % 7].type;
    call.op = cases[i % 7].op;
    done += compare(call, cases[i % 7].fill, i >= 7, comm);
  }
  return done;
}

static enum laneway_operation operation_of(const char *name) {
  for (int operation = 1; laneway_operation_name(operation); operation++)
    if (strcmp(laneway_operation_name(operation), name) == 0)
      return (enum laneway_operation)operation;
  return (enum laneway_operation)0;
}

static void every_algorithm(int count, char **words, MPI_Comm comm) {
  for (int i = 0; i + 1 < count; i += 2) {
    enum laneway_operation operation = operation_of(words[i]);
    EXPECT(operation != 0);
    for (char *name = strtok(words[i + 1], ","); name; name = strtok(NULL, ",")) {
      char what[100];
      snprintf(what, sizeof what, "%s by %s", words[i], name);
      doing = what;
      int done = reduces(operation) ? reduces_well(operation, name, comm)
                                    : moves(operation, name, comm);
      if (done == 0 && rank == 0) printf("refused: %s\n", what);
    }
  }
}

// Every operator with every number of C that MPI has it for.
static void every_operator(void) {
  const struct {
    MPI_Datatype type;
    enum fill fill;
    int is_float;
  } types[] = {{MPI_SIGNED_CHAR, WHOLE_1, 0},  {MPI_UNSIGNED_CHAR, WHOLE_1, 0},
               {MPI_SHORT, WHOLE_2, 0},        {MPI_UNSIGNED_SHORT, WHOLE_2, 0},
               {MPI_INT, WHOLE_4, 0},          {MPI_UNSIGNED, WHOLE_4, 0},
               {MPI_LONG, WHOLE_8, 0},         {MPI_UNSIGNED_LONG, WHOLE_8, 0},
               {MPI_LONG_LONG, WHOLE_8, 0},    {MPI_UNSIGNED_LONG_LONG, WHOLE_8, 0},
               {MPI_INT8_T, WHOLE_1, 0},       {MPI_UINT8_T, WHOLE_1, 0},
               {MPI_INT16_T, WHOLE_2, 0},      {MPI_UINT16_T, WHOLE_2, 0},
               {MPI_INT32_T, WHOLE_4, 0},      {MPI_UINT32_T, WHOLE_4, 0},
               {MPI_INT64_T, WHOLE_8, 0},      {MPI_UINT64_T, WHOLE_8, 0},
               {MPI_FLOAT, FLOATS, 1},         {MPI_DOUBLE, DOUBLES, 1}};
  const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MIN,  MPI_MAX, MPI_BAND,
                        MPI_BOR,  MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
  doing = "every operator";
  for (int i = 0; i < 20; i++) {
    for (int j = 0; j < 10; j++) {
      laneway_call_options call = LANEWAY_CALL_OPTIONS;
      call.operation = (i + j) % 2 ? LANEWAY_ALLREDUCE : LANEWAY_REDUCE;
      call.algorithm = (i + j) % 2 ? "recursive-doubling" : "binomial";
      call.recvcount = 33;
      call.recvtype = types[i].type;
      call.op = ops[j];
      call.root = j % ranks;
      if (j < 4 || !types[i].is_float) {
        EXPECT(compare(call, types[i].fill, j % 3 == 0, MPI_COMM_WORLD));
      } else {
        call.sendbuf = sent[1], call.recvbuf = got[1];
        EXPECT(laneway_call(MPI_COMM_WORLD, &call) == LANEWAY_USAGE);
        EXPECT(says("does not serve"));
      }
    }
  }
}

// What has padding is compared by its values.
static void padded_elements(void) {
  struct place {
    double value;
    int at;
  } places[8], best[8];
  long double ones[8], sums[8];
  double complex_in[16], complex_out[16], complex_due[16];
  for (int i = 0; i < 8; i++) {
    places[i].value = (rank + i) % ranks;
    places[i].at = rank;
    ones[i] = rank + i;
    complex_in[2 * i] = rank, complex_in[2 * i + 1] = i;
  }
  EXPECT(laneway_allreduce("ring", places, best, 8, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD) ==
         LANEWAY_DONE);
  EXPECT(laneway_allreduce("ring", ones, sums, 8, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD) ==
         LANEWAY_DONE);
  for (int i = 0; i < 8; i++) {
    EXPECT(best[i].value == ranks - 1 && best[i].at == (2 * ranks - 1 - i) % ranks);
    EXPECT(sums[i] == ranks * (ranks - 1) / 2 + ranks * i);
  }
  EXPECT(laneway_allreduce("ring", complex_in, complex_out, 8, MPI_C_DOUBLE_COMPLEX, MPI_PROD,
                           MPI_COMM_WORLD) == LANEWAY_DONE);
  MPI_Allreduce(complex_in, complex_due, 8, MPI_C_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD);
  EXPECT(memcmp(complex_out, complex_due, sizeof complex_due) == 0);
  // MPICH 5.0 crashes in its own MPI_Reduce of such a datatype.
  int in[24], out[24];
  for (int i = 0; i < 24; i++) in[i] = i + rank, out[i] = -1;
  EXPECT(laneway_allreduce("ring", in, out, 8, shifted, add_apart, MPI_COMM_WORLD) == LANEWAY_DONE);
  for (int i = 0; i < 24; i++)
    EXPECT(out[i] == (i % 3 == 1 ? ranks * i + ranks * (ranks - 1) / 2 : -1));
}

// A matrix of 2 by 2 numbers, the product of which depends on the order: inout = in times inout.
static void multiply_matrices(void *in, void *inout, int *count, MPI_Datatype *type) {
  const unsigned *a = in;
  unsigned *b = inout;
  (void)type;
  for (int i = 0; i < *count; i++, a += 4, b += 4) {
    unsigned product[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                           a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
    memcpy(b, product, sizeof product);
  }
}

// Sums of ints that lie 12 bytes apart, at the beginning of an element or 4 bytes behind it.
static void add_ints_apart(void *in, void *inout, int *count, MPI_Datatype *type) {
  int first = *type == shifted;
  for (int i = 0; i < *count; i++) ((int *)inout)[3 * i + first] += ((int *)in)[3 * i + first];
}

static void make_types(void) {
  int one[] = {1, 1}, back[] = {1, 0}, second[] = {1};
  MPI_Datatype pair, at_4;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 16, &gaps);
  MPI_Type_indexed(2, one, back, MPI_INT, &turned);
  MPI_Type_contiguous(4, MPI_INT, &matrix);
  MPI_Type_indexed(1, one, second, MPI_INT, &at_4);
  MPI_Type_create_resized(MPI_INT, 0, 12, &apart);
  MPI_Type_create_resized(at_4, 0, 12, &shifted);
  MPI_Type_commit(&gaps);
  MPI_Type_commit(&turned);
  MPI_Type_commit(&matrix);
  MPI_Type_commit(&apart);
  MPI_Type_commit(&shifted);
  MPI_Type_free(&pair);
  MPI_Type_free(&at_4);
  MPI_Op_create(multiply_matrices, 0, &multiply);
  MPI_Op_create(add_ints_apart, 1, &add_apart);
}

// Two numbers wherever they are, by their addresses; and elements in descending order.
static void addresses(void) {
  int first = rank == 1 ? 7 : -1, second = rank == 1 ? 8 : -1, lengths[] = {1, 1};
  int down[6] = {0}, up[6] = {0, 1, 2, 3, 4, 5};
  MPI_Aint at[2];
  MPI_Datatype both, back;
  MPI_Get_address(&first, at);
  MPI_Get_address(&second, at + 1);
  MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &both);
  MPI_Type_commit(&both);
  EXPECT(laneway_bcast("binomial", MPI_BOTTOM, 1, both, 1, MPI_COMM_WORLD) == LANEWAY_DONE);
  EXPECT(first == 7 && second == 8);
  MPI_Type_create_resized(MPI_INT, 0, -(MPI_Aint)sizeof(int), &back);
  MPI_Type_commit(&back);
  int *buffer = rank == 0 ? up : down;
  EXPECT(laneway_bcast("linear", buffer + (rank ? 5 : 0), 6, rank ? back : MPI_INT, 0,
                       MPI_COMM_WORLD) == LANEWAY_DONE);
  for (int i = 0; i < 6; i++) EXPECT(buffer[i] == (rank ? 5 - i : i));
  MPI_Type_free(&both);
  MPI_Type_free(&back);
}

static laneway_call_options allreduce_of(MPI_Datatype type, MPI_Op op) {
  laneway_call_options call = LANEWAY_CALL_OPTIONS;
  call.operation = LANEWAY_ALLREDUCE;
  call.algorithm = "ring";
  call.sendbuf = sent[0];
  call.recvbuf = got[0];
  call.recvcount = 8;
  call.recvtype = type;
  call.op = op;
  return call;
}

static int refused(laneway_call_options call, const char *word) {
  int code = laneway_call(MPI_COMM_WORLD, &call);
  return code == LANEWAY_USAGE && says(word) && says("try:");
}

static void wrong_options(void) {
  laneway_call_options good = allreduce_of(MPI_INT, MPI_SUM), call, nothing;
  laneway_call_arguments given;
  int world = laneway_comm(MPI_COMM_WORLD);
  EXPECT(laneway_call(MPI_COMM_WORLD, &good) == LANEWAY_DONE);
  EXPECT(laneway_call(MPI_COMM_WORLD, NULL) == LANEWAY_USAGE && says("NULL"));
  memset(&nothing, 0, sizeof nothing);
  EXPECT(refused(nothing, "not initialised"));
  memset(&nothing, 0x5A, sizeof nothing);
  EXPECT(refused(nothing, "not initialised"));
  memset(&given, 0, sizeof given);
  EXPECT(laneway_call_by_handles(world, &given) == LANEWAY_USAGE && says("not initialised"));
  given.size = sizeof given - 8;
  EXPECT(laneway_call_by_handles(world, &given) == LANEWAY_USAGE && says("not initialised"));
  given.size = sizeof given + 8;
  EXPECT(laneway_call_by_handles(world, &given) == LANEWAY_USAGE && says("newer"));
  const int wrong[] = {0, -1, 17, 2147483647};
  for (int i = 0; i < 4; i++) {
    call = good, call.operation = (enum laneway_operation)wrong[i];
    EXPECT(refused(call, "laneway_operation"));
    EXPECT(laneway_operation_name(wrong[i]) == NULL);
  }
  call = good, call.algorithm = NULL;
  EXPECT(refused(call, "algorithm is NULL"));
  call = good, call.algorithm = "rin";
  EXPECT(refused(call, "`ring`"));
  call = good, call.algorithm = "chosen";
  EXPECT(refused(call, "are unknown"));
  EXPECT(laneway_call(MPI_COMM_NULL, &good) == LANEWAY_ENVIRONMENT && says("MPI_COMM_NULL"));
  call = good, call.recvcount = -1;
  EXPECT(refused(call, "recvcount has -1"));
  call = good, call.sendbuf = NULL;
  EXPECT(refused(call, "sendbuf is NULL"));
  call = good, call.recvbuf = NULL;
  EXPECT(refused(call, "recvbuf is NULL"));
  call = good, call.recvbuf = MPI_IN_PLACE;
  EXPECT(refused(call, "MPI_IN_PLACE"));
  call = good, call.sendbuf = got[0] + 4;
  EXPECT(refused(call, "share bytes"));
  call = good, call.recvtype = MPI_DATATYPE_NULL;
  EXPECT(refused(call, "recvtype is MPI_DATATYPE_NULL"));
  call = good, call.op = MPI_OP_NULL;
  EXPECT(refused(call, "MPI_OP_NULL"));
  call = good, call.algorithm = "native", call.op = MPI_OP_NULL;
  EXPECT(refused(call, "MPI_OP_NULL"));
}

static void wrong_datatypes(void) {
  MPI_Datatype overlapping, uncommitted;
  EXPECT(refused(allreduce_of(MPI_DOUBLE, MPI_BAND), "does not serve"));
  EXPECT(refused(allreduce_of(MPI_BYTE, MPI_SUM), "does not serve"));
  EXPECT(refused(allreduce_of(MPI_CHAR, MPI_SUM), "does not serve"));
  EXPECT(refused(allreduce_of(MPI_INT, MPI_MINLOC), "does not serve"));
  EXPECT(refused(allreduce_of(MPI_2INT, MPI_SUM), "does not serve"));
  EXPECT(refused(allreduce_of(MPI_INT, MPI_NO_OP), "does not serve"));
  EXPECT(refused(allreduce_of(matrix, MPI_SUM), "MPI_Op_create"));
  EXPECT(refused(allreduce_of(gaps, MPI_SUM), "MPI_Op_create"));
  // Elements that reach into each other can be moved, but no algorithm can reduce them.
  MPI_Type_create_resized(gaps, 0, 4, &overlapping);
  MPI_Type_commit(&overlapping);
  EXPECT(refused(allreduce_of(overlapping, add_apart), "beyond their extent"));
  MPI_Type_free(&overlapping);
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  laneway_call_options call = LANEWAY_CALL_OPTIONS;
  call.operation = LANEWAY_BCAST;
  call.algorithm = "linear";
  call.recvbuf = got[0];
  call.recvcount = 3;
  call.recvtype = uncommitted;
  // On the root alone, which would otherwise be waited for.
  int code = laneway_call(MPI_COMM_SELF, &call);
  EXPECT(code == LANEWAY_ENVIRONMENT || code == LANEWAY_DONE);
  if (code == LANEWAY_ENVIRONMENT) EXPECT(says("MPI_Pack") && says("try:"));
  MPI_Type_free(&uncommitted);
}

static void wrong_blocks(void) {
  static const int counts[RANKS] = {1, 2, -3, 1}, fine[RANKS] = {1, 1, 1, 1}, at[RANKS] = {0};
  static const int huge[RANKS] = {2147483647, 2147483647, 2147483647, 2147483647};
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Datatype vast;
  void *in = sent[0], *out = got[0];
  EXPECT(laneway_scatter("linear", in, 1, MPI_INT, out, 1, MPI_INT, ranks, world) ==
             LANEWAY_USAGE && says("root is 4"));
  EXPECT(laneway_scatter("linear", in, 1, MPI_INT, out, 1, MPI_INT, -1, world) == LANEWAY_USAGE);
  EXPECT(laneway_allgather("ring", in, 1, MPI_INT, out, 2, MPI_INT, world) == LANEWAY_USAGE &&
         says("differ in bytes"));
  EXPECT(laneway_alltoall("pairwise", in, -1, MPI_INT, out, 1, MPI_INT, world) == LANEWAY_USAGE &&
         says("sendcount has -1"));
  EXPECT(laneway_allgatherv("ring", in, 1, MPI_INT, out, counts, at, MPI_INT, world) ==
             LANEWAY_USAGE && says("recvcounts has -3"));
  EXPECT(laneway_allgatherv("ring", in, 1, MPI_INT, out, NULL, at, MPI_INT, world) ==
             LANEWAY_USAGE && says("recvcounts is NULL"));
  EXPECT(laneway_allgatherv("ring", in, 1, MPI_INT, out, fine, NULL, MPI_INT, world) ==
             LANEWAY_USAGE && says("rdispls is NULL"));
  EXPECT(laneway_allgatherv("ring", in, 2, MPI_INT, out, fine, at, MPI_INT, world) ==
             LANEWAY_USAGE && says("differ in bytes"));
  EXPECT(laneway_alltoallv("native", in, NULL, at, MPI_INT, out, fine, at, MPI_INT, world) ==
             LANEWAY_USAGE && says("sendcounts is NULL"));
  EXPECT(laneway_reduce_scatter("ring", in, out, NULL, MPI_INT, MPI_SUM, world) == LANEWAY_USAGE);
  EXPECT(laneway_bcast("linear", MPI_IN_PLACE, 1, MPI_INT, 0, world) == LANEWAY_USAGE);
  EXPECT(laneway_gather("linear", MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, (rank + 1) % ranks,
                        MPI_COMM_WORLD) == LANEWAY_USAGE && says("the root's"));
  // More than any memory, and more than any address.
  EXPECT(laneway_allgatherv("ring", in, 2147483647, MPI_LONG_DOUBLE, out, huge, at,
                            MPI_LONG_DOUBLE, world) != LANEWAY_DONE);
  MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 40, &vast);
  MPI_Type_commit(&vast);
  EXPECT(laneway_bcast("linear", out, 2147483647, vast, 0, world) == LANEWAY_USAGE &&
         says("too long"));
  MPI_Type_free(&vast);
}

int main(int argc, char **argv) {
  laneway_call_options early = LANEWAY_CALL_OPTIONS;
  early.operation = LANEWAY_BARRIER;
  early.algorithm = "dissemination";
  EXPECT(laneway_call(MPI_COMM_WORLD, &early) == LANEWAY_ENVIRONMENT && says("not running"));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
  make_types();
  MPI_Comm turned_comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &turned_comm);
  every_algorithm(argc - 1, argv + 1, MPI_COMM_WORLD);
  every_operator();
  padded_elements();
  addresses();
  EXPECT(laneway_barrier("dissemination", turned_comm) == LANEWAY_DONE);
  wrong_options();
  wrong_datatypes();
  wrong_blocks();
  MPI_Comm_free(&turned_comm);
  MPI_Datatype *made[] = {&gaps, &turned, &matrix, &apart, &shifted};
  for (int i = 0; i < 5; i++) MPI_Type_free(made[i]);
  MPI_Op_free(&multiply);
  MPI_Op_free(&add_apart);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  EXPECT(laneway_call(MPI_COMM_WORLD, &early) == LANEWAY_ENVIRONMENT && says("not running"));
  if (rank == 0 && faults == 0) printf("calls as MPI's own on %d ranks\n", ranks);
  return faults != 0;
}
