// A program of a user's, on the stand-in of the driver (tests/engine/capture/fake_gpu), and the
// kernels that are tried in the place of its own. Its words say what it does, in turn; its output
// is what all of its memory holds at the end.
#include "fake_driver.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <numeric>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

constexpr int count = 40'000; // More than one page of what is compared at once.
constexpr std::size_t bytes = count * sizeof(float);

float* extra = nullptr; ///< Memory that no parameter points to.
float* locked = nullptr;
int runs = 0;

/// A block of the process's memory that nobody else gets.
struct TakenBlock {
    TakenBlock* next;
};
TakenBlock* taken = nullptr;

/// Takes all memory in blocks of 32 KiB or more until freeMemory().
void takeMemory() {
    rlimit limit{};
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = 1;
    setrlimit(RLIMIT_DATA, &limit);
    while (void* block = std::malloc(32 << 10)) // NOLINT
        taken = new (block) TakenBlock{taken};
}
void freeMemory() {
    rlimit limit{};
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_DATA, &limit);
    while (taken != nullptr)
        std::free(std::exchange(taken, taken->next)); // NOLINT
}

// void scale(float a, const float* x, float* y, int n)
struct Parameters {
    float a;
    const float* x;
    float* y;
    int n;

    explicit Parameters(const std::byte* given) {
        std::memcpy(&a, given, sizeof a);
        std::memcpy(&x, given + 8, sizeof x);
        std::memcpy(&y, given + 16, sizeof y);
        std::memcpy(&n, given + 24, sizeof n);
    }
};

/// y = a * factor * x for [begin, end) of n parts, and one more in `launches`.
void scalePart(const std::byte* given, double begin, double end) {
    const Parameters p(given);
    float factor = 1;
    if (const void* variable = fakeVariable("factor"); variable != nullptr)
        std::memcpy(&factor, variable, sizeof factor);
    for (int i = static_cast<int>(begin * p.n); i < static_cast<int>(end * p.n); ++i)
        p.y[i] = p.a * factor * p.x[i];
    if (void* variable = fakeVariable("launches"); variable != nullptr) {
        int launches = 0;
        std::memcpy(&launches, variable, sizeof launches);
        ++launches;
        std::memcpy(variable, &launches, sizeof launches);
    }
}

void scale(const std::byte* given) {
    scalePart(given, 0, 1);
    fakeSpend(20);
}
void right(const std::byte* given) {
    scalePart(given, 0, 1);
    fakeSpend(10);
}
/// The kernel that a compiler made of a text. Which one it is shows in the variables that it uses.
void compiled(const std::byte* given) {
    if (fakeVariable("faulty") != nullptr)
        return fakeFault();
    if (fakeVariable("endless") != nullptr) {
        std::fclose(std::fopen(std::getenv("FAKE_MARK"), "w"));
        return fakeHang();
    }
    scalePart(given, 0, 1);
    if (fakeVariable("oddly") != nullptr)
        Parameters(given).y[30'007] += 1'000;
    fakeSpend(fakeVariable("slow") != nullptr       ? 20
              : fakeVariable("quickest") != nullptr ? 4
              : fakeVariable("quick") != nullptr    ? 6
                                                    : 10);
}
void wrong(const std::byte* given) {
    scale(given);
    Parameters(given).y[30'007] += 1'000;
}
void rounded(const std::byte* given) {
    scale(given);
    Parameters(given).y[7] *= 1.0000002f;
}
void writesInput(const std::byte* given) {
    scale(given);
    const_cast<float*>(Parameters(given).x)[3] = -1;
}
void writesElsewhere(const std::byte* given) {
    scale(given);
    extra[39'999] = 5;
}
void takesLong(const std::byte* given) {
    scalePart(given, 0, 1);
    fakeSpend(199'500);
}
void crawls(const std::byte* given) {
    scalePart(given, 0, 1);
    fakeSpend(2'000'000);
}
void slow(const std::byte* given) {
    scalePart(given, 0, 1);
    fakeSpend(100);
}
/// Fills page-locked memory, as a thread of the program does at some time.
void load() {
    static bool isLoaded = false;
    if (!std::exchange(isLoaded, true))
        std::iota(locked, locked + count, 2.0f);
}
void rightWhileLoading(const std::byte* given) {
    right(given);
    load();
}
void half(const std::byte* given) {
    scalePart(given, 0, 0.5);
}
void sometimes(const std::byte* given) {
    scale(given);
    if (++runs % 3 == 0)
        Parameters(given).y[0] = 0;
}
void faults(const std::byte*) {
    fakeFault();
}
void hangs(const std::byte*) {
    fakeHang();
}
void ends(const std::byte*) {
    _exit(3);
}
/// Does not end when it runs for the third time.
void hangsLater(const std::byte* given) {
    if (++runs == 3)
        fakeHang();
    right(given);
}
/// Does not end where other contents than those of an earlier launch are.
void hangsOnOtherContents(const std::byte* given) {
    if (Parameters(given).y[0] != 0)
        return fakeHang();
    right(given);
}
void leavesNoMemory(const std::byte* given) {
    writesElsewhere(given);
    takeMemory();
}
void varies(const std::byte* given) {
    scale(given);
    Parameters(given).y[1] = static_cast<float>(++runs);
}

/// Takes a fifth parameter: the blocks of the launch that it stands for.
void countsBlocks(const std::byte* given) {
    constexpr std::uint32_t launched = 157;
    std::uint32_t blocks = 0;
    std::memcpy(&blocks, given + 28, sizeof blocks);
    scalePart(given, 0, blocks == launched ? 1 : 0.5);
}

/// Keeps the program's end from its parent for six seconds, as the driver does while it waits for
/// a kernel: a process that traces it sees the end first.
void endLate() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0)
        _exit(5);
    const pid_t program = getpid();
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    if (fork() == 0) {
        setsid(); // Who kills the program's group leaves it alone.
        const char done = ptrace(PTRACE_SEIZE, program, 0, 0) == 0 ? 1 : 0;
        static_cast<void>(write(ends[1], &done, 1));
        std::this_thread::sleep_for(std::chrono::seconds(6));
        _exit(0);
    }
    char done = 0;
    if (read(ends[0], &done, 1) != 1 || done == 0)
        _exit(6);
}

constexpr std::array<std::size_t, 4> sizes{4, 8, 8, 4};
constexpr std::array<std::size_t, 5> sizesWithBlocks{4, 8, 8, 4, 4};

void addCandidates() {
    const auto add = [](const char* name, void (*body)(const std::byte*)) {
        fakeImageKernel(name, sizes.data(), sizes.size(), body);
    };
    add("right", &right);
    add("_Z5scalefPKfPfi", &compiled); // What a compiler calls it.
    add("_Z5scalef4ViewPfi", &compiled);
    add("_Z5scalefPKPKfPfi", &compiled);
    add("wrong", &wrong);
    add("rounded", &rounded);
    add("writes input", &writesInput);
    add("writes elsewhere", &writesElsewhere);
    add("right while loading", &rightWhileLoading);
    add("half", &half);
    add("sometimes", &sometimes);
    add("faults", &faults);
    add("hangs", &hangs);
    add("crawls", &crawls);
    add("slow", &slow);
    add("ends", &ends);
    add("hangs later", &hangsLater);
    add("hangs on other contents", &hangsOnOtherContents);
    add("leaves no memory", &leavesNoMemory);
    add("does not load", &right);
    add("prints", &right);
    fakeImageKernel("three parameters", sizes.data(), 3, &right);
    fakeImageKernel("counts blocks", sizesWithBlocks.data(), sizesWithBlocks.size(), &countsBlocks);
}

struct Program {
    CUfunction first; ///< The stand-in gives the first kernel a handle of the older kind.
    CUfunction scaleKernel;
    CUfunction variesKernel;
    CUfunction hangsKernel;
    CUfunction longKernel;
    CUfunction helperKernel; ///< It has the name of a kernel of the product.
    CUdeviceptr x = 0;
    CUdeviceptr y = 0;
    std::vector<CUdeviceptr> all;
    int threadLaunches = 0;

    Program() {
        first = fakeKernel("_Z5firstfPKfPfi", sizes.data(), sizes.size(), &scale);
        scaleKernel = fakeKernel("_Z5scalefPKfPfi", sizes.data(), sizes.size(), &scale);
        variesKernel = fakeKernel("_Z6variesfPKfPfi", sizes.data(), sizes.size(), &varies);
        hangsKernel = fakeKernel("_Z5hangsfPKfPfi", sizes.data(), sizes.size(), &hangs);
        longKernel = fakeKernel("_Z9takesLongfPKfPfi", sizes.data(), sizes.size(), &takesLong);
        helperKernel = fakeKernel("differ_pages", sizes.data(), sizes.size(), &scale);
        const float factor = 3;
        const int launches = 0;
        fakeAddVariable("factor", &factor, sizeof factor);
        fakeAddVariable("launches", &launches, sizeof launches);
        addCandidates();
        CUdeviceptr more = 0;
        cuMemAlloc(&x, bytes);
        cuMemAlloc(&y, bytes);
        cuMemAlloc(&more, bytes + 4); // Not a multiple of what is compared at once.
        extra = reinterpret_cast<float*>(more);
        void* host = nullptr;
        cuMemHostAlloc(&host, bytes, 0);
        locked = static_cast<float*>(host);
        all = {x, y, more};
        std::vector<float> values(count);
        std::iota(values.begin(), values.end(), 1.0f);
        cuMemcpyHtoD(x, values.data(), bytes);
        cuMemcpyHtoD(more, values.data(), bytes);
    }

    void launch(CUfunction kernel, CUstream stream = nullptr) {
        float a = 2;
        int n = count;
        std::array<void*, 4> parameters{&a, &x, &y, &n};
        cuLaunchKernel(kernel, (count + 255) / 256, 1, 1, 256, 1, 1, 64, stream, parameters.data(),
                       nullptr);
        freeMemory();
    }

    /// Launches with x twice as large.
    void change() const {
        std::vector<float> values(count);
        cuMemcpyDtoH(values.data(), x, bytes);
        for (float& value : values)
            value *= 2;
        cuMemcpyHtoD(x, values.data(), bytes);
    }

    /// Threads that copy to memory of their own while another one launches.
    void runThreads() {
        std::vector<CUdeviceptr> own(4);
        std::vector<std::jthread> threads;
        for (CUdeviceptr& address : own) {
            cuMemAlloc(&address, bytes);
            all.push_back(address);
            threads.emplace_back([&address] {
                std::vector<float> values(count);
                for (int round = 1; round <= 50; ++round) {
                    values.assign(count, static_cast<float>(round));
                    cuMemcpyHtoD(address, values.data(), bytes);
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
            });
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        launch(scaleKernel);
    }

    void print() const {
        for (const CUdeviceptr address : all) {
            std::vector<float> values(count);
            const auto status = cuMemcpyDtoH(values.data(), address, bytes);
            std::printf("%.17g (%d) ", std::accumulate(values.begin(), values.end(), 0.0), status);
        }
        int launches = 0;
        std::memcpy(&launches, fakeOwnVariable("launches"), sizeof launches);
        std::printf("%g %d\n", std::accumulate(locked, locked + count, 0.0), launches);
    }
};

} // namespace

int main(int argc, char** argv) {
    cuInit(0);
    Program program;
    const std::vector<std::string_view> words(argv + 1, argv + argc);
    const auto has = [&](std::string_view word) {
        return std::ranges::find(words, word) != words.end();
    };
    if (!has("unloaded"))
        fakeLoadModule(has("calls-printf") ? "vprintf" : "", has("hidden-variable") ? "hidden" : "",
                       has("lazy"));
    for (const std::string_view what : words) {
        if (what == "launch")
            program.launch(program.scaleKernel);
        else if (what == "first")
            program.launch(program.first);
        else if (what == "varies")
            program.launch(program.variesKernel);
        else if (what == "hangs")
            program.launch(program.hangsKernel);
        else if (what == "long")
            program.launch(program.longKernel);
        else if (what.starts_with("once:")) {
            // The program ends at its second start.
            if (::open(std::string(what.substr(5)).c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600) < 0)
                _exit(4);
        } else if (what == "helper")
            program.launch(program.helperKernel);
        else if (what == "refuse-fill")
            fakeRefuseFill();
        else if (what == "load")
            load();
        else if (what == "locked-input")
            program.x = reinterpret_cast<CUdeviceptr>(locked);
        else if (what == "locked-output")
            program.y = reinterpret_cast<CUdeviceptr>(locked);
        else if (what == "overlapping") {
            static Program& another = program;
            fakeDuringLaunch([] { another.launch(another.scaleKernel); });
        } else if (what == "graph-memory") {
            CUDA_MEM_ALLOC_NODE_PARAMS node{};
            cuGraphAddMemAllocNode(nullptr, nullptr, nullptr, 0, &node);
        } else if (what == "ended-context") {
            void* memory = nullptr;
            cuCtxSetCurrent(reinterpret_cast<CUcontext>(0xC1));
            cuMemHostAlloc(&memory, std::size_t{1} << 26, 0);
            cuCtxSetCurrent(reinterpret_cast<CUcontext>(0xC0));
            cuCtxDestroy(reinterpret_cast<CUcontext>(0xC1));
        } else if (what == "ends-late")
            endLate();
        else if (what == "alarm")
            ::alarm(20); // The end of a program that would wait for ever.
        else if (what == "own-stream")
            program.launch(program.scaleKernel, reinterpret_cast<CUstream>(0x500));
        else if (what == "change")
            program.change();
        else if (what == "threads")
            program.runThreads();
        else if (what == "managed") {
            cuMemAllocManaged(&program.y, bytes, 1);
            program.all.push_back(program.y);
        } else if (what == "async") {
            cuMemAllocAsync(&program.y, bytes, nullptr);
            program.all.push_back(program.y);
        } else if (what == "pitch") {
            std::size_t pitch = 0;
            cuMemAllocPitch(&program.y, &pitch, bytes / 100, 100, 4);
            program.all.push_back(program.y);
        } else if (what == "free") {
            cuMemFree(program.all.back());
            program.all.pop_back();
        } else if (what == "free-async") {
            cuMemFreeAsync(program.all.back(), nullptr);
            program.all.pop_back();
        } else if (what == "map")
            cuMemMap(0x10000, 4096, 0, 0, 0);
        else if (what == "blocked")
            fakeBlock(reinterpret_cast<CUstream>(0x700));
        else if (what == "capture")
            fakeCapture(reinterpret_cast<CUstream>(0x500), true);
        else if (what == "end-capture")
            fakeCapture(reinterpret_cast<CUstream>(0x500), false);
        else if (what == "says")
            std::fprintf(stderr, "it is what it is\n");
    }
    program.print();
    std::fflush(nullptr);
    _exit(has("fail") ? 7 : 0);
}
