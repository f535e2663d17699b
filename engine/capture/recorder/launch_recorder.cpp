#include "engine/capture/recorder/launch_recorder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine::capture {
namespace {

constexpr const char* claimFolder = "claims";

std::string now() {
    const std::time_t time = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&time, &parts);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

/// Stops recording in this process for good: the disk is full, or the folder is gone.
[[noreturn]] void giveUp(const std::string& what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

std::string limitText(std::uint64_t bytes) {
    return bytes % (1 << 20) == 0 ? std::to_string(bytes >> 20) + " MiB"
                                  : std::to_string(bytes) + " bytes";
}

} // namespace

LaunchRecorder::LaunchRecorder(Recording recording, const DriverFunctions& driver)
    : recording_(std::move(recording)), driver_(driver), process_(::getpid()) {
    for (const char* name : {manifestFolder, dataFolder, claimFolder})
        ::mkdir((recording_.folder + "/" + name).c_str(), 0755);
}

std::unique_ptr<OpenLaunch> LaunchRecorder::begin(const LaunchCall& call) noexcept {
    try {
        if (isOff_ || call.symbol == nullptr || ::getpid() != process_)
            return nullptr;
        auto launch = std::make_unique<OpenLaunch>();
        if (isWanted(call)) {
            launch->alone = {launching_, patience()};
            if (launch->alone.owns_lock() && open(*launch, call))
                return launch;
            launch->alone = {};
        }
        // A launch that waits for another thread's launch might never begin, so the wait has a
        // limit.
        launch->beside = {launching_, patience()};
        return launch;
    } catch (const std::exception& problem) {
        disable(problem.what());
        return nullptr;
    }
}

bool LaunchRecorder::open(OpenLaunch& open, const LaunchCall& call) {
    const auto reader = DeviceReader::make(driver_);
    if (!reader || isCaptured(call.stream))
        return false;
    CapturedLaunch& launch = open.launch;
    launch.symbol = call.symbol;
    launch.ordinal = nextOrdinal(launch.symbol);
    if (launch.ordinal == 0 || !claim(launch))
        return false;
    open.stream = call.stream;
    launch.program = recording_.program;
    launch.time = now();
    launch.device = deviceName();
    launch.grid = call.grid;
    launch.block = call.block;
    launch.sharedBytes = call.sharedBytes;
    readParameters(launch, call);
    readBefore(launch, *reader, reader->waitFor(call.stream, patience()));
    return true;
}

void LaunchRecorder::end(std::unique_ptr<OpenLaunch> open, CUresult status) noexcept {
    try {
        if (isOff_ || !open || !open->alone.owns_lock())
            return;
        CapturedLaunch& launch = open->launch;
        if (status != CUDA_SUCCESS)
            return giveBack(launch);
        const auto reader = DeviceReader::make(driver_);
        // If the launch never ends or breaks the context, its inputs are still worth keeping.
        const bool hasData = std::ranges::any_of(launch.parameters, [](const auto& parameter) {
            return parameter.buffer && !parameter.buffer->before.empty();
        });
        const bool isDone = hasData && reader && reader->waitFor(open->stream, patience());
        for (CapturedParameter& parameter : launch.parameters) {
            if (!isDone || !parameter.buffer || parameter.buffer->before.empty())
                continue;
            const DeviceRange range{parameter.buffer->address, parameter.buffer->bytes};
            std::string ignored;
            parameter.buffer->after = keep(*reader, range, ignored);
        }
        const std::string text = formatCapture(launch);
        const std::scoped_lock lock(mutex_);
        write(recording_.folder + "/" + manifestFolder + "/" +
                  manifestName(launch.symbol, launch.ordinal),
              text.data(), text.size());
    } catch (const std::exception& problem) {
        disable(problem.what());
    }
}

bool LaunchRecorder::isWanted(const LaunchCall& call) {
    const std::string_view symbol = call.symbol;
    const auto& wanted = recording_.kernels;
    if (!wanted.empty() && std::ranges::none_of(wanted, [&](const std::string& name) {
            return symbol.find(name) != std::string_view::npos;
        }))
        return false;
    const std::scoped_lock lock(mutex_);
    const auto known = launches_.find(symbol);
    return known == launches_.end() || known->second.size() < recording_.launches;
}

/// Whether the launch only becomes part of a graph, in which case it reads nothing now. While
/// another stream of the context is captured, the legacy stream cannot be queried.
bool LaunchRecorder::isCaptured(CUstream stream) const {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver_.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/// The first free ordinal; 0 if enough launches are recorded.
std::uint32_t LaunchRecorder::nextOrdinal(const std::string& symbol) {
    const std::scoped_lock lock(mutex_);
    auto& taken = launches_[symbol];
    for (std::uint32_t ordinal = 1; ordinal <= recording_.launches; ++ordinal) {
        if (taken.insert(ordinal).second)
            return ordinal;
    }
    return 0;
}

void LaunchRecorder::giveBack(const CapturedLaunch& launch) {
    const std::scoped_lock lock(mutex_);
    launches_[launch.symbol].erase(launch.ordinal);
    ::unlink(claimOf(launch).c_str());
}

std::string LaunchRecorder::claimOf(const CapturedLaunch& launch) const {
    return recording_.folder + "/" + claimFolder + "/" +
           manifestName(launch.symbol, launch.ordinal);
}

/// Whether this process is the first one of the program to record this launch of the kernel.
bool LaunchRecorder::claim(const CapturedLaunch& launch) const {
    const int file = ::open(claimOf(launch).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0 && errno != EEXIST)
        giveUp("cannot write to " + recording_.folder);
    if (file >= 0)
        ::close(file);
    return file >= 0;
}

void LaunchRecorder::readParameters(CapturedLaunch& launch, const LaunchCall& call) const {
    auto parameters = parametersOf(call, driver_);
    if (parameters)
        launch.parameters = std::move(*parameters);
    else
        launch.missing = parameters.error().what;
}

void LaunchRecorder::readBefore(CapturedLaunch& launch, const DeviceReader& reader, bool isReady) {
    for (CapturedParameter& parameter : launch.parameters) {
        CUdeviceptr address = 0;
        if (parameter.value.size() != sizeof address)
            continue;
        std::memcpy(&address, parameter.value.data(), sizeof address);
        const auto range = reader.rangeAt(address);
        if (!range)
            continue;
        CapturedBuffer& buffer = parameter.buffer.emplace();
        buffer.address = range->address;
        buffer.bytes = range->bytes;
        if (isReady)
            buffer.before = keep(reader, *range, buffer.missing);
        else
            buffer.missing = "the work before the launch did not end in time";
    }
}

std::string LaunchRecorder::keep(const DeviceReader& reader, const DeviceRange& range,
                                 std::string& missing) {
    if (range.bytes > recording_.bufferBytes) {
        missing = "it is larger than the " + limitText(recording_.bufferBytes) +
                  " that a buffer may have (--buffer-limit)";
        return {};
    }
    const auto bytes = reader.read(range);
    if (!bytes) {
        missing = "it could not be read";
        return {};
    }
    return keep(*bytes, missing);
}

std::string LaunchRecorder::keep(const std::vector<std::byte>& bytes, std::string& missing) {
    std::string name = dataName(bytes.data(), bytes.size());
    const std::scoped_lock lock(mutex_);
    if (kept_.contains(name))
        return name;
    if (keptBytes_ + bytes.size() > recording_.totalBytes) {
        missing =
            "all data together is larger than " + limitText(recording_.totalBytes) + " (--limit)";
        return {};
    }
    write(recording_.folder + "/" + dataFolder + "/" + name, bytes.data(), bytes.size());
    kept_.insert(name);
    keptBytes_ += bytes.size();
    return name;
}

/// Writes the file completely or not at all. The caller holds the mutex.
void LaunchRecorder::write(const std::string& path, const void* bytes, std::size_t count) {
    const std::string unfinished = recording_.folder + "/unfinished-" + std::to_string(process_) +
                                   "-" + std::to_string(++files_);
    const int file = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        giveUp("cannot write to " + recording_.folder);
    const auto* at = static_cast<const std::byte*>(bytes);
    while (count > 0) {
        const auto written = ::write(file, at, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            ::close(file);
            ::unlink(unfinished.c_str());
            giveUp("cannot write " + path);
        }
        at += written;
        count -= static_cast<std::size_t>(written);
    }
    if (::close(file) != 0 || ::rename(unfinished.c_str(), path.c_str()) != 0)
        giveUp("cannot write " + path);
}

std::string LaunchRecorder::deviceName() const {
    CUdevice device = 0;
    std::array<char, 256> name{};
    if (driver_.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        driver_.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device) !=
            CUDA_SUCCESS)
        return {};
    return name.data();
}

void LaunchRecorder::disable(const char* why) noexcept {
    if (!isOff_.exchange(true))
        std::fprintf(stderr, "kernelskill: capturing stops here: %s\n", why);
}

} // namespace kernelskill::engine::capture
