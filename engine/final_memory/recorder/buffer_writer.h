/// Writes what the program's buffers hold to the files of its process.
#pragma once

#include "engine/capture/recorder/driver_functions.h"
#include "engine/capture/recorder/launch_call.h"
#include "engine/final_memory/final_memory.h"
#include "engine/replay/recorder/program_memory.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine::final_memory {

/// Thread-safe. May throw std::bad_alloc. Its calls of the driver are OwnCalls.
class BufferWriter {
public:
    /// All arguments outlive the writer.
    BufferWriter(const FinalMemoryTarget& target, const capture::DriverFunctions& driver,
                 const replay::ProgramMemory& memory)
        : target_(target), driver_(driver), memory_(memory) {}
    BufferWriter(const BufferWriter&) = delete;
    BufferWriter& operator=(const BufferWriter&) = delete;

    /// Creates the files. Failed if it cannot.
    [[nodiscard]] Result<void> begin();

    /// Notes which buffers the launch passes to its kernel.
    void noteLaunch(const capture::LaunchCall& call);
    /// Called before the program frees memory: writes the buffer, if it is one.
    void write(const replay::FreeCall& call);
    /// Called before a context ends: writes all of its buffers.
    void writeAllOf(CUcontext context);
    /// Called at the program's end: writes all that are left, and that these were all.
    void finish();

private:
    /// Names the work that is waited for before a buffer is read.
    enum class Wait : std::uint8_t {
        Device, ///< All work of the context, as the call that frees the buffer does.
        Stream, ///< The work of the stream in whose order the buffer is freed.
        Brief,  ///< The work of the legacy stream, for a few seconds: the program waits for none.
    };

    void write(const replay::Allocation& buffer, Wait wait, CUstream stream);
    /// Writes the contents. Returns why they cannot be written; empty if they are.
    [[nodiscard]] std::string writeContents(const replay::Allocation& buffer, Wait wait,
                                            CUstream stream);
    void writeRest(std::span<const replay::Allocation> buffers);

    const FinalMemoryTarget& target_;
    const capture::DriverFunctions& driver_;
    const replay::ProgramMemory& memory_;
    std::mutex mutex_; ///< Guards all members below.
    int list_ = -1;
    int contents_ = -1;
    std::uint64_t writtenBytes_ = 0;  ///< The size of the contents.
    std::set<std::uint64_t> written_; ///< The numbers of buffers that are in the list.
    std::map<std::uint64_t, std::vector<BufferUse>> uses_;            ///< By numbers of buffers.
    std::map<std::string, std::uint32_t, std::less<>> notedLaunches_; ///< By symbols.
};

} // namespace kernelskill::engine::final_memory
