#include "engine/final_memory/recorder/buffer_writer.h"

#include "engine/capture/recorder/device_reader.h"
#include "engine/replay/recorder/own_calls.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace kernelskill::engine::final_memory {
namespace {

using replay::Allocation;
using replay::OwnCalls;

/// A buffer is read in parts of this size, which bounds the host's memory.
constexpr std::size_t partBytes = 16u << 20;
/// A buffer's types are clear from some of its uses, and a kernel's buffers from some launches.
constexpr std::size_t maxUses = 16;
constexpr std::uint32_t maxNotedLaunches = 1000;
constexpr std::chrono::milliseconds streamPatience{60'000};
constexpr std::chrono::milliseconds endPatience{5'000};

bool append(int file, const void* data, std::size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
        const auto count = ::write(file, at, bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        bytes -= static_cast<std::size_t>(count);
    }
    return true;
}

/// Makes a context current while it lives.
class CurrentContext {
public:
    CurrentContext(const capture::DriverFunctions& driver, CUcontext context) : driver_(driver) {
        isCurrent_ = driver_.cuCtxGetCurrent(&before_) == CUDA_SUCCESS &&
                     (before_ == context || driver_.cuCtxSetCurrent(context) == CUDA_SUCCESS);
        isChanged_ = isCurrent_ && before_ != context;
    }
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;
    ~CurrentContext() {
        if (isChanged_)
            driver_.cuCtxSetCurrent(before_);
    }
    [[nodiscard]] bool isCurrent() const { return isCurrent_; }

private:
    const capture::DriverFunctions& driver_;
    CUcontext before_ = nullptr;
    bool isCurrent_ = false;
    bool isChanged_ = false;
};

} // namespace

Result<void> BufferWriter::begin() {
    const auto open = [&](const std::filesystem::path& path) {
        return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    };
    const std::scoped_lock lock(mutex_);
    list_ = open(bufferListFile(target_.folder, ::getpid()));
    contents_ = open(bufferContentsFile(target_.folder, ::getpid()));
    const std::string head = bufferListHead();
    if (list_ < 0 || contents_ < 0 || !append(list_, head.data(), head.size()))
        return std::unexpected(
            Error{ErrorKind::Failed, "its files cannot be written", target_.folder, {}});
    return {};
}

void BufferWriter::noteLaunch(const capture::LaunchCall& call) {
    const std::scoped_lock lock(mutex_);
    if (call.symbol == nullptr || notedLaunches_[call.symbol]++ >= maxNotedLaunches)
        return;
    const OwnCalls own;
    const auto parameters = capture::parametersOf(call, driver_);
    if (!parameters)
        return;
    for (std::uint32_t i = 0; i < parameters->size(); ++i) {
        std::uint64_t address = 0;
        if ((*parameters)[i].value.size() != sizeof address)
            continue;
        std::memcpy(&address, (*parameters)[i].value.data(), sizeof address);
        const auto buffer = memory_.allocationAt(address);
        if (!buffer || buffer->isHost)
            continue;
        auto& uses = uses_[buffer->number];
        const BufferUse use{call.symbol, i};
        if (uses.size() < maxUses && std::ranges::find(uses, use) == uses.end())
            uses.push_back(use);
    }
}

void BufferWriter::write(const replay::FreeCall& call) {
    const auto buffer = memory_.allocationAt(call.address);
    if (!buffer || buffer->isHost || buffer->address != call.address)
        return;
    const std::scoped_lock lock(mutex_);
    write(*buffer, call.stream ? Wait::Stream : Wait::Device, call.stream.value_or(nullptr));
}

void BufferWriter::writeAllOf(CUcontext context) {
    const auto buffers = memory_.allocationsOf(context);
    const std::scoped_lock lock(mutex_);
    writeRest(buffers);
}

void BufferWriter::finish() {
    const auto buffers = memory_.allocations();
    const std::scoped_lock lock(mutex_);
    writeRest(buffers);
    const std::string end = bufferListEnd();
    static_cast<void>(append(list_, end.data(), end.size()));
}

void BufferWriter::writeRest(std::span<const Allocation> buffers) {
    for (const Allocation& buffer : buffers)
        if (!buffer.isHost)
            write(buffer, Wait::Brief, nullptr);
}

void BufferWriter::write(const Allocation& buffer, Wait wait, CUstream stream) {
    if (!written_.insert(buffer.number).second)
        return;
    FinalBuffer entry;
    entry.number = buffer.number;
    entry.address = buffer.address;
    entry.bytes = buffer.bytes;
    if (const auto uses = uses_.find(buffer.number); uses != uses_.end())
        entry.uses = uses->second;
    const std::uint64_t offset = writtenBytes_;
    entry.why = writeContents(buffer, wait, stream);
    if (entry.why.empty())
        entry.offset = offset;
    const std::string line = lineOf(entry);
    static_cast<void>(append(list_, line.data(), line.size()));
}

std::string BufferWriter::writeContents(const Allocation& buffer, Wait wait, CUstream stream) {
    if (buffer.bytes > target_.totalBytes - std::min(writtenBytes_, target_.totalBytes))
        return "at most " + std::to_string(target_.totalBytes >> 20) + " MiB are recorded";
    if (memory_.isCapturing())
        return "a stream was being captured";
    const OwnCalls own;
    const CurrentContext current(driver_, buffer.context);
    if (!current.isCurrent())
        return "its context was gone";
    const auto reader = capture::DeviceReader::make(driver_);
    if (!reader)
        return "the driver made no stream";
    const bool isDone = wait == Wait::Device   ? driver_.cuCtxSynchronize() == CUDA_SUCCESS
                        : wait == Wait::Stream ? reader->waitFor(stream, streamPatience)
                                               : reader->waitFor(nullptr, endPatience);
    if (!isDone)
        return "the work before it failed or did not end";
    for (std::uint64_t done = 0; done < buffer.bytes; done += partBytes) {
        const auto part = reader->read(
            {buffer.address + done, std::min<std::uint64_t>(partBytes, buffer.bytes - done)});
        if (!part)
            return "it cannot be read";
        if (!append(contents_, part->data(), part->size()))
            return "the temporary folder is full";
        writtenBytes_ += part->size();
    }
    return {};
}

} // namespace kernelskill::engine::final_memory
