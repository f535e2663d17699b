#include "engine/assembly/kernel_assembly.h"
#include "engine/assembly/ptx_reader.h"
#include "engine/static_facts/device_code.h"
#include "tests/engine/assembly/fixtures.h"
#include "tests/engine/static_facts/facts_fixture.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;

constexpr auto ptx = AssemblyLanguage::Ptx;
constexpr auto sass = AssemblyLanguage::Sass;

/// Kernels of the gallery, except those that take long to compile.
std::vector<fs::path> examples() {
    std::vector<fs::path> files;
    for (const char* folder : {"examples", "examples/bottlenecks"}) {
        for (const auto& entry : fs::directory_iterator(fs::path(paths::sourceFolder) / folder)) {
            if (entry.path().extension() == ".cu")
                files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    return files;
}

/// Lines, from 0 on, of stores to global memory as the parser sees them.
std::set<std::uint32_t> storeLines(KernelRef kernel) {
    std::set<std::uint32_t> lines;
    for (const auto& access : kernel.kernel.accesses) {
        if (access.kind == analysis::AccessKind::Write ||
            access.kind == analysis::AccessKind::ReadWrite)
            lines.insert(kernel.program.model->source
                             ->lineColumn(kernel.kernel.body.expr(access.expression).span.begin)
                             .line);
    }
    return lines;
}

class KernelAssemblyTest : public FactsFixture {
protected:
    Result<KernelAssembly> assemblyOf(KernelRef kernel,
                                      std::optional<AssemblyLanguage> language = ptx) {
        const auto launches = inferLaunches(kernel.file(), kernel.kernel);
        return kernelAssembly(kernel, launches ? &launches->front() : nullptr, {language, "sm_90"},
                              options_, {});
    }

    /// A toolkit with NVRTC, without nvcc, and with `files` ("bin/nvdisasm" with its text).
    analysis::CudaToolkit toolkitWith(const std::map<std::string, std::string>& files) const {
        const auto root = folder_.path() / "cuda";
        fs::create_directories(root / "bin");
        for (const auto& entry : fs::directory_iterator(options_.toolkit->root)) {
            const auto link = root / entry.path().filename();
            if (entry.path().filename() != "bin" && !fs::exists(fs::symlink_status(link)))
                fs::create_symlink(entry.path(), link);
        }
        for (const auto& [name, text] : files) {
            std::ofstream(root / name) << text;
            fs::permissions(root / name, fs::perms::owner_all);
        }
        return {root, options_.toolkit->version};
    }

    kernelskill::testing::TemporaryFolder folder_;
};

TEST_F(KernelAssemblyTest, StoresOfTheExamplesStandOnTheirLines) {
    for (const auto& path : examples()) {
        const auto program = parse(path, contentsOf(path));
        for (const auto& kernel : program.model->kernels) {
            const auto assembly = assemblyOf({program, kernel});
            ASSERT_TRUE(assembly) << path << ": " << assembly.error().describe();
            std::set<std::uint32_t> lines;
            for (const auto& instruction : assembly->listing.instructions) {
                if (instruction.kind != InstructionClass::GlobalStore)
                    continue;
                const auto place = shownPlace(*assembly, instruction);
                ASSERT_TRUE(place) << path << ": " << instruction.text;
                EXPECT_EQ(assembly->listing.files.at(place->file), path.string());
                lines.insert(place->line);
            }
            EXPECT_THAT(lines, IsSubsetOf(storeLines({program, kernel})))
                << path << ' ' << kernel.name;
            EXPECT_GT(totalOf(countClasses(assembly->listing)), 5U);
            EXPECT_EQ(assembly->facts.architecture, "sm_90");
        }
    }
}

TEST_F(KernelAssemblyTest, HoldsEveryInstructionOfThePtx) {
    // The compiler writes an instruction a line; a call's other lines begin otherwise.
    const std::regex instruction(
        R"(^\t\{?\s*(@!?%p\d+ )?[a-z][a-z0-9_.:]*(\s.*)?;\}?$|^\tcall.*$)");
    for (const auto& path : examples()) {
        const auto program = parse(path, contentsOf(path));
        for (const auto& kernel : program.model->kernels) {
            const auto launches = inferLaunches(*program.model, kernel);
            const auto code = deviceCode({program, kernel}, launches->front().templateArguments,
                                         "sm_90", options_, {});
            ASSERT_TRUE(code) << path << ": " << code.error().describe();
            std::size_t count = 0;
            std::istringstream lines(code->ptx);
            for (std::string line; std::getline(lines, line);)
                count += std::regex_match(line, instruction) ? 1 : 0;
            const auto listing = readPtx(code->ptx, code->facts.symbol);
            ASSERT_TRUE(listing) << path << ": " << listing.error().describe();
            EXPECT_EQ(listing->instructions.size(), count) << path << ' ' << kernel.name;
        }
    }
}

TEST_F(KernelAssemblyTest, ShowsInlinedHeadersOnTheUsersLines) {
    const auto path = fixturePath("inlined.cu");
    const auto program = parse(path, contentsOf(path));
    const auto assembly = assemblyOf({program, program.model->kernels.at(0)});
    ASSERT_TRUE(assembly) << assembly.error().describe();
    const auto& shuffle =
        *std::ranges::find_if(assembly->listing.instructions,
                              [](const auto& each) { return each.kind == InstructionClass::Warp; });
    EXPECT_THAT(placesOf(assembly->listing, shuffle), HasSubstr(" < inlined.cu:7 < inlined.cu:14"));
    const auto place = shownPlace(*assembly, shuffle);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->line, 6U);
    std::uint32_t shuffles = 0;
    std::size_t instructions = 0;
    for (const auto& line : linesOf(*assembly)) {
        if (line.place.line == 6)
            shuffles += line.counts[static_cast<std::size_t>(InstructionClass::Warp)];
        instructions += line.instructions.size();
    }
    EXPECT_EQ(shuffles, 5U) << "one for each step of the loop, which is unrolled";
    EXPECT_LE(instructions, assembly->listing.instructions.size());
    EXPECT_GT(instructions, assembly->listing.instructions.size() / 2);
}

TEST_F(KernelAssemblyTest, ComesFromNvrtcAlone) {
    options_.toolkit = toolkitWith({});
    const auto program = parse("/nowhere/k.cu", "__global__ void k(float* x) {\n"
                                                "    x[threadIdx.x] = 2.0f;\n}\n");
    const auto assembly = assemblyOf({program, program.model->kernels.at(0)});
    ASSERT_TRUE(assembly) << assembly.error().describe();
    EXPECT_THAT(assembly->facts.compiler, HasSubstr("NVRTC"));
    const auto& store = instructionOf(assembly->listing, "st.global.");
    const auto place = shownPlace(*assembly, store);
    ASSERT_TRUE(place);
    EXPECT_EQ(assembly->listing.files.at(place->file), "/nowhere/k.cu");
    EXPECT_EQ(place->line, 1U);
    EXPECT_TRUE(assembly->isUsers.at(place->file));
}

TEST_F(KernelAssemblyTest, ReadsWhatTheDisassemblerPrints) {
    options_.toolkit = toolkitWith({{"bin/nvdisasm", R"(#!/bin/sh
[ "$1 $2" = "--print-code --print-line-info-inline" ] && head -c 4 "$3" | grep -q ELF || exit 3
printf '\t.section\t.text._Z1kPf,"ax",@progbits\n_Z1kPf:\n.text._Z1kPf:\n'
printf '\t//## File "/nowhere/k.cu", line 2\n'
printf '        /*0000*/                   STG.E desc[UR4][R2.64], R5 ;\n'
)"}});
    const auto program = parse("/nowhere/k.cu", "__global__ void k(float* x) {\n"
                                                "    x[threadIdx.x] = 2.0f;\n}\n");
    const auto& kernel = program.model->kernels.at(0);
    for (const auto language : {std::optional(sass), std::optional<AssemblyLanguage>()}) {
        const auto assembly = assemblyOf({program, kernel}, language);
        ASSERT_TRUE(assembly) << assembly.error().describe();
        EXPECT_EQ(assembly->disassembler, "nvdisasm");
        EXPECT_EQ(assembly->listing.language, sass);
        ASSERT_EQ(assembly->listing.instructions.size(), 1U);
        EXPECT_EQ(shownPlace(*assembly, assembly->listing.instructions[0])->line, 1U);
        EXPECT_TRUE(assembly->isUsers.at(0));
    }
}

TEST_F(KernelAssemblyTest, SaysWhatADisassemblerThatFailsSaid) {
    options_.toolkit = toolkitWith({{"bin/nvdisasm", "#!/bin/sh\necho no such SM >&2\nexit 1\n"}});
    const auto program = parse("/nowhere/k.cu", "__global__ void k(float* x) { *x = 2.0f; }\n");
    const auto assembly = assemblyOf({program, program.model->kernels.at(0)}, sass);
    ASSERT_FALSE(assembly);
    EXPECT_EQ(assembly.error().kind, ErrorKind::Failed);
    EXPECT_THAT(assembly.error().what, HasSubstr("no such SM"));
}

TEST_F(KernelAssemblyTest, NamesWhatIsMissing) {
    const auto program = parse("/nowhere/k.cu", "__global__ void k(float* x) { *x = 2.0f; }\n");
    const auto& kernel = program.model->kernels.at(0);
    if (!findDisassembler(options_.toolkit)) {
        const auto disassembly = assemblyOf({program, kernel}, sass);
        ASSERT_FALSE(disassembly);
        EXPECT_EQ(disassembly.error().kind, ErrorKind::Missing);
        EXPECT_THAT(disassembly.error().remedy, HasSubstr("nvdisasm"));
        const auto either = assemblyOf({program, kernel}, std::nullopt);
        ASSERT_TRUE(either) << either.error().describe();
        EXPECT_EQ(either->listing.language, ptx);
        EXPECT_THAT(either->notes.at(0), HasSubstr("no nvdisasm"));
    }
    options_.toolkit.reset();
    const auto assembly = assemblyOf({program, kernel});
    ASSERT_FALSE(assembly);
    EXPECT_EQ(assembly.error().kind, ErrorKind::Missing);
    EXPECT_FALSE(assembly.error().remedy.empty());
}

TEST_F(KernelAssemblyTest, StopsWhenAsked) {
    const auto program = parse("/nowhere/k.cu", "#include <cooperative_groups.h>\n"
                                                "__global__ void k(float* x) { *x = 4.25f; }\n");
    options_.cacheDirectory = folder_.path() / "cache";
    std::stop_source stop;
    stop.request_stop();
    const auto assembly = kernelAssembly({program, program.model->kernels.at(0)}, nullptr,
                                         {ptx, "sm_90"}, options_, stop.get_token());
    ASSERT_FALSE(assembly);
    EXPECT_EQ(assembly.error().kind, ErrorKind::Cancelled);
}

} // namespace
} // namespace kernelskill::engine
