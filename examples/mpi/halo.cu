/* SPDX-License-Identifier: Apache-2.0 */
/* A heated plate, whose rows are divided among the ranks of an MPI program. In each step every inner point becomes the
 * mean of its four neighbours, so a rank needs the rows next to its own, the halo, from the ranks beside it.
 *
 * They get there in two ways, one run each:
 *
 *   mpi  MPI_Sendrecv is handed device pointers. Before, the host waits for the step's event.
 *   ipc  Each rank opens its neighbours' memory and events by handles. Its stream waits for the neighbour's event and copies the row;
 *        the host waits for nothing but the news that the event has been recorded.
 *
 * In the end the sum of all points is reduced over the ranks, from device memory to device memory, and must be that of one process
 * which does it all, bit by bit in each row. A rank that finds anything else ends with 1.
 *
 *     nvcc $(mpicc --showme:compile) halo.cu -o halo $(mpicc --showme:link)
 *     mpirun -n 4 ./halo
 */
#define OMPI_SKIP_MPICXX 1 /* the C interface alone */
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t status_ = (call);                                                                                  \
        if (status_ != cudaSuccess) {                                                                                  \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_));                \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                              \
        }                                                                                                              \
    } while (0)

static const int width = 256, rows_each = 64, steps = 100;

/* Rows 1 to `rows` of `to`; rows 0 and rows + 1 of `from` are the halo, or the plate's edge. */
__global__ void relax(const float *from, float *to, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y + 1;
    if (x < width) {
        const float *at = from + y * width + x;
        to[y * width + x] = x == 0 || x == width - 1 ? *at : 0.25f * (at[-1] + at[1] + at[-width] + at[width]);
    }
}

/* One thread: rows are added in their order, so that the sum is the same however many there are. */
__global__ void sum_rows(const float *plate, double *sums, int rows)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < rows) {
        double sum = 0;
        for (int x = 0; x < width; x++)
            sum += plate[(y + 1) * width + x];
        sums[y] = sum;
    }
}

/* Row y of the plate as it begins: hot at the top and in a stripe. */
static void begin_row(float *row, int y)
{
    for (int x = 0; x < width; x++)
        row[x] = y == 0 ? 100.0f : x == 0 ? (float)(y % 17) : 0.0f;
}

struct neighbour {
    int rank;                    /* MPI_PROC_NULL: none */
    float *plate[2];             /* its memory, opened here */
    cudaEvent_t stepped[2];
};

struct part {
    int rank, ranks, rows;
    float *plate[2];
    cudaEvent_t stepped[2];      /* the step that wrote plate[i] is done */
    cudaStream_t stream;
    neighbour above, below;
};

static void fill(part &p)
{
    std::vector<float> host((p.rows + 2) * width);
    for (int y = 0; y < p.rows + 2; y++)
        begin_row(&host[y * width], p.rank * rows_each + y);
    for (float *plate : p.plate)
        CHECK(cudaMemcpy(plate, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
}

static void step(part &p, int from)
{
    relax<<<dim3((width + 127) / 128, p.rows), 128, 0, p.stream>>>(p.plate[from], p.plate[!from], p.rows);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(p.stepped[!from], p.stream));
}

/* Device pointers are handed to MPI. */
static void exchange_by_mpi(part &p, int which)
{
    float *plate = p.plate[which];
    CHECK(cudaEventSynchronize(p.stepped[which]));
    MPI_Sendrecv(plate + width, width, MPI_FLOAT, p.above.rank, 0, plate + (p.rows + 1) * width, width, MPI_FLOAT, p.below.rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(plate + p.rows * width, width, MPI_FLOAT, p.below.rank, 1, plate, width, MPI_FLOAT, p.above.rank, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void copy_row(part &p, const neighbour &from, int which, int its_row, int own_row)
{
    if (from.rank == MPI_PROC_NULL)
        return;
    CHECK(cudaStreamWaitEvent(p.stream, from.stepped[which], 0));
    CHECK(cudaMemcpyAsync(p.plate[which] + own_row * width, from.plate[which] + its_row * width, width * sizeof(float),
                          cudaMemcpyDeviceToDevice, p.stream));
}

/* The streams exchange rows among themselves. A wait is for the latest record of an event, so the neighbours say that they have
 * recorded theirs; that the row is not written again too soon follows from the next step's wait. */
static void exchange_by_ipc(part &p, int which)
{
    char said = 1, heard;
    MPI_Sendrecv(&said, 1, MPI_CHAR, p.above.rank, 2, &heard, 1, MPI_CHAR, p.below.rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&said, 1, MPI_CHAR, p.below.rank, 3, &heard, 1, MPI_CHAR, p.above.rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    copy_row(p, p.above, which, rows_each, 0);
    copy_row(p, p.below, which, 1, p.rows + 1);
}

struct handles {
    cudaIpcMemHandle_t memory[2];
    cudaIpcEventHandle_t events[2];
};

static void open_neighbour(neighbour &n, const handles &from)
{
    for (int i = 0; n.rank != MPI_PROC_NULL && i < 2; i++) {
        CHECK(cudaIpcOpenMemHandle((void **)&n.plate[i], from.memory[i], cudaIpcMemLazyEnablePeerAccess));
        CHECK(cudaIpcOpenEventHandle(&n.stepped[i], from.events[i]));
    }
}

static void meet_neighbours(part &p)
{
    handles own, above, below;
    for (int i = 0; i < 2; i++) {
        CHECK(cudaIpcGetMemHandle(&own.memory[i], p.plate[i]));
        CHECK(cudaIpcGetEventHandle(&own.events[i], p.stepped[i]));
    }
    MPI_Sendrecv(&own, sizeof own, MPI_BYTE, p.above.rank, 4, &below, sizeof below, MPI_BYTE, p.below.rank, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&own, sizeof own, MPI_BYTE, p.below.rank, 5, &above, sizeof above, MPI_BYTE, p.above.rank, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    open_neighbour(p.above, above);
    open_neighbour(p.below, below);
}

static void leave_neighbour(neighbour &n)
{
    for (int i = 0; n.rank != MPI_PROC_NULL && i < 2; i++) {
        CHECK(cudaIpcCloseMemHandle(n.plate[i]));
        CHECK(cudaEventDestroy(n.stepped[i]));
    }
}

/* What one process makes of the whole plate: the same operations in the same order. */
static std::vector<float> alone(int rows)
{
    std::vector<float> now((rows + 2) * width), next;
    for (int y = 0; y < rows + 2; y++)
        begin_row(&now[y * width], y);
    next = now;
    for (int s = 0; s < steps; s++, now.swap(next))
        for (int y = 1; y <= rows; y++)
            for (int x = 1; x < width - 1; x++) {
                const float *at = &now[y * width + x];
                next[y * width + x] = 0.25f * (at[-1] + at[1] + at[-width] + at[width]);
            }
    return now;
}

/* True if the part's rows are those, and the ranks' sums, reduced on the device, their sum. */
static bool is_right(part &p, int which, const std::vector<float> &wanted)
{
    std::vector<float> got(p.rows * width);
    double *sums, total = 0;
    CHECK(cudaMalloc(&sums, 2 * p.rows * sizeof(double)));
    sum_rows<<<1, p.rows, 0, p.stream>>>(p.plate[which], sums, p.rows);
    CHECK(cudaStreamSynchronize(p.stream));
    MPI_Allreduce(sums, sums + p.rows, p.rows, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* device memory, both */
    std::vector<double> all(p.rows);
    CHECK(cudaMemcpy(all.data(), sums + p.rows, p.rows * sizeof(double), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got.data(), p.plate[which] + width, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(sums));
    double expected = 0;
    for (double sum : all)
        total += sum;
    for (int y = 1; y <= p.ranks * rows_each; y++)
        for (int x = 0; x < width; x++)
            expected += wanted[y * width + x];
    bool same = memcmp(got.data(), &wanted[(p.rank * rows_each + 1) * width], got.size() * sizeof(float)) == 0;
    bool sums_up = total > expected * 0.999999 && total < expected * 1.000001;
    if (!same || !sums_up)
        fprintf(stderr, "rank %d: rows %s, sum %g for %g\n", p.rank, same ? "right" : "wrong", total, expected);
    return same && sums_up;
}

int main(int argc, char **argv)
{
    part p = {};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
    p.rows = rows_each;
    p.above.rank = p.rank > 0 ? p.rank - 1 : MPI_PROC_NULL;
    p.below.rank = p.rank + 1 < p.ranks ? p.rank + 1 : MPI_PROC_NULL;
    CHECK(cudaStreamCreate(&p.stream));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaMalloc(&p.plate[i], (p.rows + 2) * width * sizeof(float)));
        CHECK(cudaEventCreateWithFlags(&p.stepped[i], cudaEventDisableTiming | cudaEventInterprocess));
    }
    meet_neighbours(p);
    std::vector<float> wanted = alone(p.ranks * rows_each);
    const char *const ways[] = {"mpi", "ipc"};
    int good = 1, all_good;
    for (int way = 0; way < 2; way++) {
        fill(p);
        CHECK(cudaDeviceSynchronize());
        MPI_Barrier(MPI_COMM_WORLD);
        for (int s = 0; s < steps; s++) {
            step(p, s % 2);
            if (way == 0)
                exchange_by_mpi(p, !(s % 2));
            else
                exchange_by_ipc(p, !(s % 2));
        }
        CHECK(cudaStreamSynchronize(p.stream));
        bool right = is_right(p, steps % 2, wanted);
        good &= right;
        if (p.rank == 0)
            printf("halo by %s: %d ranks, %d steps: %s\n", ways[way], p.ranks, steps, right ? "right" : "wrong");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    leave_neighbour(p.above);
    leave_neighbour(p.below);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody frees what another has open */
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        CHECK(cudaFree(p.plate[i]));
        CHECK(cudaEventDestroy(p.stepped[i]));
    }
    CHECK(cudaStreamDestroy(p.stream));
    MPI_Finalize();
    return all_good ? 0 : 1;
}
