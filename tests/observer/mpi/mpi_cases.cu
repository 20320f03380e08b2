/* SPDX-License-Identifier: Apache-2.0 */
/* One process that sends messages to itself, of memory that kernels use: `mpi_cases CASE [mended]` (test_mpi.py). It is
 * built with an MPI library of the machine, and with the small one beside it. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>

#include <cuda_runtime.h>

enum { N = 64, SIDE = 8 };

__global__ void set(int *at, int count)
{
    if (threadIdx.x < count)
        at[threadIdx.x] = (int)threadIdx.x;
}

__global__ void set_column(int *at, int column)
{
    at[threadIdx.x * SIDE + column] = 1;
}

static bool mended;
static int *device, host[N], other[N];
static MPI_Request request[3];

static void wait_for_device()
{
    if (cudaDeviceSynchronize() != cudaSuccess)
        exit(1);
}

static void launch(int *at = device)
{
    set<<<1, N>>>(at, N);
}

static void receive_on_host()
{
    MPI_Irecv(host, N, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[1]);
}

static void done_on_host()
{
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
}

static void case_send()
{
    receive_on_host();
    launch();
    if (mended)
        wait_for_device();
    MPI_Send(device, N, MPI_INT, 0, 1, MPI_COMM_WORLD);
    done_on_host();
}

/* The kernel has ended when the program waits for the request, but nothing says that the message had been read. */
static void case_isend()
{
    receive_on_host();
    MPI_Isend(device, N, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[0]);
    if (mended)
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    launch();
    wait_for_device();
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    done_on_host();
}

static void case_irecv()
{
    MPI_Irecv(device, N, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Send(host, N, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (mended)
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    launch();
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    wait_for_device();
}

/* Mended, the kernel writes another column than the message has. */
static void case_column()
{
    MPI_Datatype column;
    MPI_Type_vector(SIDE, 1, SIDE, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Irecv(host, SIDE, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[1]);
    set_column<<<1, SIDE>>>(device, mended ? 3 : 2);
    MPI_Send(device + 2, 1, column, 0, 1, MPI_COMM_WORLD);
    MPI_Type_free(&column);
    done_on_host();
    wait_for_device();
}

/* Elements of four numbers that begin one number apart: five of them have eight numbers. */
static void case_overlap()
{
    MPI_Datatype four, apart;
    MPI_Type_vector(1, 4, 4, MPI_INT, &four);
    MPI_Type_create_resized(four, 0, sizeof(int), &apart);
    MPI_Type_commit(&apart);
    MPI_Irecv(host, 20, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[1]);
    launch();
    if (mended)
        wait_for_device();
    MPI_Send(device, 5, apart, 0, 1, MPI_COMM_WORLD);
    MPI_Type_free(&apart);
    done_on_host();
}

static void case_persistent()
{
    MPI_Send_init(device, N, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[0]);
    for (int i = 0; i < 2; i++) {
        receive_on_host();
        MPI_Start(&request[0]);
        if (i == 1 && !mended)
            launch();
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        done_on_host();
    }
    launch();
    MPI_Request_free(&request[0]);
}

/* Two requests, of which the program waits for one; the other's buffer is used. */
static void case_two()
{
    int flag, index;
    MPI_Irecv(host, N / 2, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[1]);
    MPI_Irecv(other, N / 2, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[2]);
    MPI_Request send[2];
    MPI_Isend(device, N / 2, MPI_INT, 0, 1, MPI_COMM_WORLD, &send[0]);
    MPI_Isend(device + N / 2, N / 2, MPI_INT, 0, 1, MPI_COMM_WORLD, &send[1]);
    MPI_Waitall(2, &request[1], MPI_STATUSES_IGNORE);
    MPI_Waitall(1, &send[0], MPI_STATUSES_IGNORE);
    if (mended)
        do
            MPI_Testany(2, send, &index, &flag, MPI_STATUS_IGNORE);
        while (!flag);
    set<<<1, N / 2>>>(device + N / 2, N / 2);
    MPI_Waitall(2, send, MPI_STATUSES_IGNORE);
    wait_for_device();
}

static void case_none()
{
    launch();
    MPI_Send(device, N, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    wait_for_device();
}

static void case_sum()
{
    launch();
    if (mended)
        wait_for_device();
    MPI_Allreduce(MPI_IN_PLACE, device, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void case_gatherv()
{
    int count = N / 2, place = mended ? N / 2 : 0;
    set<<<1, N / 2>>>(device, N / 2);
    MPI_Gatherv(host, count, MPI_INT, device, &count, &place, MPI_INT, 0, MPI_COMM_WORLD);
    wait_for_device();
}

/* The host's own code reads what a message may write; seen where that code tells of it. */
static void case_host()
{
    int *pinned;
    cudaMallocHost(&pinned, sizeof host);
    memset(pinned, 0, sizeof host);
    MPI_Irecv(pinned, N, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Send(host, N, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (mended)
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    printf("%d\n", pinned[3]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    cudaFreeHost(pinned);
}

static void case_free()
{
    receive_on_host();
    MPI_Isend(device, N, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[0]);
    if (mended)
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    cudaFree(device);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    done_on_host();
    device = NULL;
}

/* For the tool init: memory that nobody has written is sent; mended, it has been received. */
static void case_unwritten()
{
    int *fresh;
    cudaMalloc(&fresh, sizeof host);
    if (mended) {
        MPI_Irecv(fresh, N, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[0]);
        MPI_Send(host, N, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    }
    receive_on_host();
    MPI_Send(fresh, N, MPI_INT, 0, 1, MPI_COMM_WORLD);
    done_on_host();
    cudaMemcpy(other, fresh, sizeof other, cudaMemcpyDeviceToHost);
    cudaFree(fresh);
}

/* For the tool mem: past the end. */
static void case_past()
{
    int count = mended ? N : N + 8;
    MPI_Irecv(other, N + 16, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request[1]);
    MPI_Send((char *)(device + N) - count, count + (mended ? 0 : 8), MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    done_on_host();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } cases[] = {{"send", case_send},
                 {"isend", case_isend},
                 {"irecv", case_irecv},
                 {"column", case_column},
                 {"overlap", case_overlap},
                 {"persistent", case_persistent},
                 {"two", case_two},
                 {"none", case_none},
                 {"sum", case_sum},
                 {"gatherv", case_gatherv},
                 {"host", case_host},
                 {"free", case_free},
                 {"unwritten", case_unwritten},
                 {"past", case_past}};
    MPI_Init(&argc, &argv);
    mended = argc > 2 && strcmp(argv[2], "mended") == 0;
    cudaMalloc(&device, sizeof host);
    cudaMemset(device, 0, sizeof host);
    wait_for_device();
    for (const auto &one : cases)
        if (argc > 1 && strcmp(argv[1], one.name) == 0)
            one.run();
    wait_for_device();
    cudaFree(device);
    MPI_Finalize();
    puts("done");
    return 0;
}
