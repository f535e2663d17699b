// Reads the output of nvcc and the disassemblers of this machine. Skips where there is no nvcc,
// nvdisasm or cuobjdump. Needs no GPU.
#include "analysis/source/files.h"
#include "analysis/source/program_search.h"
#include "engine/assembly/assembly_difference.h"
#include "engine/assembly/disassembler.h"
#include "engine/assembly/ptx_reader.h"
#include "engine/assembly/sass_reader.h"
#include "engine/process/child_process.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Each;

/// Lines 3 and 8 are inlined into the kernel, 8 through 14; line 17 stores.
constexpr const char* source = R"(#include <cuda_fp16.h>
__device__ __forceinline__ float square(float x) {
    return x * x;
}
__device__ __forceinline__ float warpSum(float v) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_down_sync(0xffffffffu, v, offset);
    return square(v);
}
extern "C" __global__ void marked(float* out, const float* in, const half* h, int n) {
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = warpSum(i < n ? in[i] : 0.0f);
    __syncthreads();
    if (i < n)
        out[i] = part[255 - threadIdx.x] + __half2float(h[i]);
}
extern "C" __global__ void other(float* out) { *out = 1.0f; }
)";
constexpr std::uint32_t inlinedLine = 8;
constexpr std::uint32_t callLine = 14;
constexpr std::uint32_t storeLine = 17;

struct Compiled {
    std::string file;
    std::string cubin;
    std::string ptx;
};

class GpuAssembly : public ::testing::Test {
protected:
    static fs::path tool(const std::string& name) {
        for (const auto& place : {"/usr/local/cuda/bin/" + name, name}) {
            if (auto program = analysis::findProgram(place))
                return *program;
        }
        return {};
    }

    static std::optional<analysis::CudaToolkit> toolkit() {
        const auto nvcc = tool("nvcc");
        std::error_code ignored;
        return nvcc.empty() ? std::nullopt
                            : std::optional(analysis::CudaToolkit{
                                  fs::canonical(nvcc, ignored).parent_path().parent_path(), 0});
    }

    void SetUp() override {
        const auto nvcc = tool("nvcc");
        if (nvcc.empty())
            GTEST_SKIP() << "no nvcc here";
        compiled_.file = (folder_.path() / "marked.cu").string();
        std::ofstream(compiled_.file) << source;
        const auto child = runChild(
            {nvcc,
             {"-cubin", "-lineinfo", "-arch=sm_90", "--keep", "--keep-dir", folder_.path().string(),
              "-o", (folder_.path() / "marked.cubin").string(), compiled_.file},
             "",
             std::chrono::minutes(2)},
            {});
        ASSERT_TRUE(child) << child.error().describe();
        ASSERT_EQ(child->status, 0) << child->messages;
        compiled_.cubin = analysis::readFile(folder_.path() / "marked.cubin").value_or("");
        compiled_.ptx = analysis::readFile(folder_.path() / "marked.ptx").value_or("");
    }

    Result<Listing> disassembled(const Disassembler& disassembler, std::string& text) const {
        auto printed = disassemble(disassembler, compiled_.cubin, std::chrono::minutes(1), {});
        if (!printed)
            return std::unexpected(printed.error());
        text = std::move(*printed);
        return readSass(text, "marked");
    }

    /// Lines of the user's file, from 1 on, of the instructions of a class, innermost first.
    std::vector<std::vector<std::uint32_t>> linesOf(const Listing& listing,
                                                    InstructionClass kind) const {
        std::vector<std::vector<std::uint32_t>> lines;
        for (const auto& instruction : listing.instructions) {
            if (instruction.kind != kind)
                continue;
            auto& own = lines.emplace_back();
            for (const auto& place : instruction.places) {
                if (listing.files.at(place.file) == compiled_.file)
                    own.push_back(place.line + 1);
            }
        }
        return lines;
    }

    void expectPlaces(const Listing& listing) const {
        EXPECT_THAT(linesOf(listing, InstructionClass::GlobalStore),
                    ::testing::ElementsAre(std::vector{storeLine}));
        const auto shuffles = linesOf(listing, InstructionClass::Warp);
        EXPECT_EQ(shuffles.size(), 5U) << "one for each step of the loop";
        EXPECT_THAT(shuffles, Each(std::vector{inlinedLine, callLine}));
        EXPECT_THAT(linesOf(listing, InstructionClass::SharedStore),
                    Contains(std::vector{callLine}));
    }

    kernelskill::testing::TemporaryFolder folder_;
    Compiled compiled_;
};

TEST_F(GpuAssembly, PtxOfThisToolkitIsRead) {
    const auto listing = readPtx(compiled_.ptx, "marked");
    ASSERT_TRUE(listing) << listing.error().describe();
    expectPlaces(*listing);
}

TEST_F(GpuAssembly, NvdisasmOfThisToolkitIsRead) {
    const auto disassembler = findDisassembler(toolkit());
    if (!disassembler || !disassembler->tellsLines)
        GTEST_SKIP() << "no nvdisasm here";
    std::string text;
    const auto listing = disassembled(*disassembler, text);
    ASSERT_TRUE(listing) << listing.error().describe() << '\n' << text;
    expectPlaces(*listing);
    const auto counts = countClasses(*listing);
    const auto count = [&](InstructionClass kind) {
        return counts[static_cast<std::size_t>(kind)];
    };
    EXPECT_EQ(count(InstructionClass::GlobalLoad), 2U);
    EXPECT_EQ(count(InstructionClass::SharedLoad), 1U);
    EXPECT_EQ(count(InstructionClass::Barrier), 1U);
    EXPECT_EQ(count(InstructionClass::Other), 0U) << text;
    // Each line with an address is an instruction of one of the two kernels.
    const auto other = readSass(text, "other");
    ASSERT_TRUE(other) << other.error().describe();
    std::size_t addresses = 0;
    for (std::size_t at = 0; (at = text.find("        /*", at)) != std::string::npos; ++at)
        ++addresses;
    EXPECT_EQ(listing->instructions.size() + other->instructions.size(), addresses);
    for (const auto& instruction : listing->instructions)
        EXPECT_THAT(instruction.opcode, ::testing::MatchesRegex("[A-Z][A-Z0-9_.a-z]*"));
    EXPECT_EQ(listing->instructions.back().kind, InstructionClass::Padding);
    if (HasFailure())
        std::printf("%s\n", text.c_str());
}

TEST_F(GpuAssembly, CuobjdumpSaysTheSameWithoutLines) {
    const auto cuobjdump = tool("cuobjdump");
    const auto nvdisasm = findDisassembler(toolkit());
    if (cuobjdump.empty() || !nvdisasm || !nvdisasm->tellsLines)
        GTEST_SKIP() << "no cuobjdump and nvdisasm here";
    std::string text;
    std::string dumped;
    const auto listing = disassembled(*nvdisasm, text);
    const auto plain = disassembled({cuobjdump, false}, dumped);
    ASSERT_TRUE(listing) << listing.error().describe();
    ASSERT_TRUE(plain) << plain.error().describe() << '\n' << dumped;
    ASSERT_EQ(plain->instructions.size(), listing->instructions.size()) << dumped;
    for (std::size_t i = 0; i < plain->instructions.size(); ++i) {
        EXPECT_EQ(plain->instructions[i].opcode, listing->instructions[i].opcode);
        EXPECT_EQ(plain->instructions[i].address, listing->instructions[i].address);
        EXPECT_EQ(plain->instructions[i].kind, listing->instructions[i].kind);
    }
}

} // namespace
} // namespace kernelskill::engine
