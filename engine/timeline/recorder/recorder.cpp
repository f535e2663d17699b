// libkernelskill-timeline.so: the CUDA driver loads it into the user's program at its start
// (CUDA_INJECTION64_PATH) and calls InitializeInjection(). It records every kernel, copy and memset
// by CUPTI's activity API and appends them to a file. If anything fails here, the program continues
// as without it.
#include "engine/process/shared_library.h"
#include "engine/timeline/activity_file.h"

#include <cstdio>
#include <cstdlib>
#include <cupti_activity.h>
#include <exception>
#include <fcntl.h>
#include <memory>
#include <string>
#include <unistd.h>

namespace kernelskill::engine {
namespace {

#define KERNELSKILL_ACTIVITY_FUNCTIONS(X)                                                          \
    X(cuptiActivityRegisterCallbacks)                                                              \
    X(cuptiActivityEnable)                                                                         \
    X(cuptiActivityGetNextRecord)                                                                  \
    X(cuptiActivityGetNumDroppedRecords)                                                           \
    X(cuptiActivityFlushAll)                                                                       \
    X(cuptiActivityFlushPeriod)                                                                    \
    X(cuptiGetResultString)

struct ActivityApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares what it is given
#define KERNELSKILL_MEMBER(name) decltype(&::name) name = nullptr;
    KERNELSKILL_ACTIVITY_FUNCTIONS(KERNELSKILL_MEMBER)
#undef KERNELSKILL_MEMBER
};

constexpr std::size_t bufferBytes = 1 << 20;
constexpr std::size_t bufferAlignment = 8; // CUPTI requires this alignment.
constexpr std::uint32_t flushMilliseconds = 200;

const char* directionOf(std::uint8_t kind) {
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
        return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
        return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
        return "DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
        return "HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
        return "PtoP";
    default:
        return "other";
    }
}

std::array<std::uint32_t, 3> sizeOf(std::int32_t x, std::int32_t y, std::int32_t z) {
    return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
            static_cast<std::uint32_t>(z)};
}

template <typename Record>
DeviceActivity placed(ActivityKind kind, const Record& record) {
    DeviceActivity activity;
    activity.kind = kind;
    activity.begin = record.start;
    activity.end = record.end;
    activity.device = record.deviceId;
    activity.context = record.contextId;
    activity.stream = record.streamId;
    return activity;
}

/// The records are packed: fields are copied, never referenced.
std::string lineOf(const CUpti_Activity& record) {
    switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
        auto activity = placed(ActivityKind::Kernel, kernel);
        if (const char* name = kernel.name; name != nullptr)
            activity.name = name;
        activity.grid = sizeOf(kernel.gridX, kernel.gridY, kernel.gridZ);
        activity.block = sizeOf(kernel.blockX, kernel.blockY, kernel.blockZ);
        activity.registers = kernel.registersPerThread;
        activity.sharedBytes = static_cast<std::uint64_t>(kernel.staticSharedMemory) +
                               static_cast<std::uint64_t>(kernel.dynamicSharedMemory);
        return lineOf(activity);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
        auto activity = placed(ActivityKind::Copy, copy);
        activity.name = directionOf(copy.copyKind);
        activity.bytes = copy.bytes;
        return lineOf(activity);
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        const auto& set = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
        auto activity = placed(ActivityKind::Set, set);
        activity.bytes = set.bytes;
        return lineOf(activity);
    }
    default:
        return {};
    }
}

/// CUPTI's callbacks carry no pointer of ours, so their state is global. It is created when the
/// driver starts and never freed, because CUPTI's thread may outlive everything else.
class Recorder {
public:
    static Recorder* start(const char* path) {
        // Each write appends whole lines, because several processes may share the file.
        const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (file < 0)
            return nullptr;
        // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): it lives until the process ends
        current = new Recorder(file);
        current->write(headLine());
        current->enable();
        return current;
    }

    void flush() const { api_.cuptiActivityFlushAll(1); }

private:
    explicit Recorder(int file) : file_(file) {}

    void enable() {
        const char* path = std::getenv(cuptiVariable);
        const auto library = SharedLibrary::open(
            {path != nullptr ? path : "", "libcupti.so.13", "libcupti.so.12", "libcupti.so"});
        if (!library)
            return write(problemLine("CUPTI cannot be loaded: " + library.error().what));
        const char* missing = nullptr;
#define KERNELSKILL_FIND(name)                                                                     \
    if (!library->find(api_.name, #name))                                                          \
        missing = #name;
        KERNELSKILL_ACTIVITY_FUNCTIONS(KERNELSKILL_FIND)
#undef KERNELSKILL_FIND
        if (missing != nullptr)
            return write(problemLine(std::string("this CUPTI is too old: it has no ") + missing));
        if (check("register", api_.cuptiActivityRegisterCallbacks(&Recorder::giveBuffer,
                                                                  &Recorder::takeBuffer)) &&
            check("kernels", api_.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) &&
            check("copies", api_.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY)) &&
            check("sets", api_.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET)) &&
            check("flush", api_.cuptiActivityFlushPeriod(flushMilliseconds)))
            std::atexit([] { current->flush(); });
    }

    bool check(const char* step, CUptiResult status) const {
        if (status == CUPTI_SUCCESS)
            return true;
        const char* text = nullptr;
        api_.cuptiGetResultString(status, &text);
        write(problemLine(std::string("CUPTI: ") + step + ": " +
                          (text != nullptr ? text : std::to_string(status).c_str())));
        return false;
    }

    void write(const std::string& lines) const {
        std::size_t done = 0;
        while (done < lines.size()) {
            const auto written = ::write(file_, lines.data() + done, lines.size() - done);
            if (written <= 0)
                return; // A full disk is no reason to disturb the program.
            done += static_cast<std::size_t>(written);
        }
    }

    static void CUPTIAPI giveBuffer(std::uint8_t** buffer, std::size_t* size,
                                    std::size_t* maxRecords) {
        // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): CUPTI releases it to takeBuffer()
        *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(bufferAlignment, bufferBytes));
        *size = *buffer != nullptr ? bufferBytes : 0;
        *maxRecords = 0; // No limit other than the size.
    }

    static void CUPTIAPI takeBuffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                    std::size_t, std::size_t validBytes) {
        const std::unique_ptr<std::uint8_t, decltype(&std::free)> owned(buffer, &std::free);
        try {
            current->take(context, stream, buffer, validBytes);
        } catch (const std::exception&) { // NOLINT(bugprone-empty-catch)
            // Out of memory: these records are lost, and the program continues.
        }
    }

    void take(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
              std::size_t validBytes) const {
        std::string lines;
        CUpti_Activity* record = nullptr;
        while (validBytes > 0 &&
               api_.cuptiActivityGetNextRecord(buffer, validBytes, &record) == CUPTI_SUCCESS)
            lines += lineOf(*record);
        std::size_t dropped = 0;
        if (api_.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS &&
            dropped > 0)
            lines += droppedLine(dropped);
        write(lines);
    }

    static inline Recorder* current = nullptr;
    int file_;
    ActivityApi api_;
};

} // namespace
} // namespace kernelskill::engine

// NOLINTNEXTLINE(readability-identifier-naming): the driver requires this name
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    namespace ke = kernelskill::engine;
    if (const char* path = std::getenv(ke::activityFileVariable); path != nullptr && *path != '\0')
        ke::Recorder::start(path);
    return 1;
}
