/// Files as the recorder of final buffers writes them.
#pragma once

#include "engine/final_memory/final_memory.h"
#include "tests/temporary_folder.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::testing {

/// The buffers of a run, in a folder of its own.
class RecordedBuffers {
public:
    /// Adds a buffer with these values, which a kernel with this symbol gets as its first argument;
    /// without a symbol, as no argument.
    template <typename T>
    void add(const std::vector<T>& values, const std::string& symbol = {}) {
        FinalBuffer buffer = next(values.size() * sizeof(T), symbol);
        buffer.offset = contents_.size();
        contents_.append(reinterpret_cast<const char*>(values.data()), buffer.bytes);
        buffers_.push_back(std::move(buffer));
    }
    /// Adds a buffer that was not recorded.
    void addUnrecorded(std::uint64_t bytes, std::string why) {
        FinalBuffer buffer = next(bytes, {});
        buffer.why = std::move(why);
        buffers_.push_back(std::move(buffer));
    }
    void setAddress(std::uint64_t address) { address_ = address; }
    void leaveOutEnd() { hasEnd_ = false; }

    [[nodiscard]] std::filesystem::path folder() const { return folder_.path(); }
    void write() const {
        std::string list = bufferListHead();
        for (const FinalBuffer& buffer : buffers_)
            list += lineOf(buffer);
        if (hasEnd_)
            list += bufferListEnd();
        writeText(bufferListFile(folder(), 1), list);
        writeText(bufferContentsFile(folder(), 1), contents_);
    }
    [[nodiscard]] FinalMemory read() const {
        write();
        return readFinalMemory(folder()).value_or(FinalMemory());
    }
    static void writeText(const std::filesystem::path& path, const std::string& text) {
        std::ofstream(path, std::ios::binary) << text;
    }

private:
    FinalBuffer next(std::uint64_t bytes, const std::string& symbol) {
        FinalBuffer buffer;
        buffer.number = buffers_.size() + 1;
        buffer.address = address_;
        buffer.bytes = bytes;
        if (!symbol.empty())
            buffer.uses = {{symbol, 0}};
        address_ += 1u << 20;
        return buffer;
    }

    ::kernelskill::testing::TemporaryFolder folder_;
    std::vector<FinalBuffer> buffers_;
    std::string contents_;
    std::uint64_t address_ = 0x7f0000000000;
    bool hasEnd_ = true;
};

} // namespace kernelskill::engine::testing
