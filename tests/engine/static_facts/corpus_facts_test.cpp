/// Every kernel of the corpus and the examples has facts, or a reason why not; and they are nvcc's.
#include "analysis/compile/ptxas_report.h"
#include "engine/execution/emulator/compile/child_process.h"
#include "tests/engine/static_facts/facts_fixture.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <set>

namespace kernelskill::engine {
namespace {

std::vector<std::filesystem::path> corpus() {
    std::vector<std::filesystem::path> files;
    for (const auto* folder : {"examples", "tests/corpus"}) {
        std::error_code ignored;
        for (const auto& item : std::filesystem::directory_iterator(
                 std::filesystem::path(KERNELSKILL_SOURCE_DIR) / folder, ignored)) {
            if (item.path().extension() == ".cu")
                files.push_back(item.path());
        }
    }
    std::ranges::sort(files);
    return files;
}

class CorpusFacts : public FactsFixture, public testing::WithParamInterface<std::filesystem::path> {
protected:
    /// nvcc's own report on the file; empty without nvcc, or where it refuses the file.
    std::vector<analysis::FunctionResources> nvccReport() {
        ChildCommand command;
        command.program = options_.toolkit->root / "bin" / "nvcc";
        command.arguments = {"-cubin",
                             "-std=c++17",
                             "-arch=sm_90",
                             "-Xptxas",
                             "-v",
                             "-w",
                             "-o",
                             "/dev/null",
                             "-I",
                             GetParam().parent_path().string(),
                             GetParam().string()};
        command.time = std::chrono::minutes(3);
        const auto child = runChild(command, {});
        if (!child || child->status != 0)
            return {};
        return analysis::parsePtxasReport(child->messages + child->output);
    }

    /// nvcc takes seconds a file: a few stand for all, unless all are asked for.
    bool comparesWithNvcc() {
        static const std::set<std::string> some = {"transpose.cu", "softmax_rows.cu",
                                                   "device_globals.cu", "template_dims.cu"};
        return std::getenv("KERNELSKILL_COMPARE_ALL_WITH_NVCC") != nullptr ||
               some.contains(GetParam().filename().string());
    }
};

/// NVRTC's optimiser and nvcc's are builds of one source with other passes in front: from the same
/// text they make other PTX now and then, which costs a few registers more or less. All else is the
/// same.
constexpr std::uint32_t mostRegistersApart = 8;

TEST_P(CorpusFacts, AreThoseOfNvcc) {
    const auto program = parse(GetParam(), contentsOf(GetParam()));
    const auto expected =
        comparesWithNvcc() ? nvccReport() : std::vector<analysis::FunctionResources>{};
    for (const auto& kernel : program.model->kernels) {
        const auto facts = factsOf(program, kernel);
        if (!facts) {
            std::cout << "[ no facts ] " << kernel.name << ": " << facts.error().describe() << "\n";
            EXPECT_NE(facts.error().kind, ErrorKind::Missing) << facts.error().describe();
            EXPECT_NE(facts.error().kind, ErrorKind::Internal) << facts.error().describe();
            EXPECT_FALSE(facts.error().where.empty()) << kernel.name;
            continue;
        }
        EXPECT_GT(facts->registers, 0U) << kernel.name;
        const auto nvccs =
            std::ranges::find(expected, facts->symbol, &analysis::FunctionResources::symbol);
        if (nvccs == expected.end()) {
            std::cout << "[ uncompared ] " << kernel.name << "\n";
            continue;
        }
        ASSERT_TRUE(nvccs->registers) << kernel.name;
        std::cout << (facts->registers == *nvccs->registers ? "[ equal ] " : "[ differs ] ")
                  << kernel.name << ": " << facts->registers << " registers, nvcc "
                  << *nvccs->registers << "\n";
        EXPECT_LE(facts->registers, *nvccs->registers + mostRegistersApart) << kernel.name;
        EXPECT_GE(facts->registers + mostRegistersApart, *nvccs->registers) << kernel.name;
        EXPECT_EQ(facts->spillStoreBytes, nvccs->spillStoreBytes) << kernel.name;
        EXPECT_EQ(facts->spillLoadBytes, nvccs->spillLoadBytes) << kernel.name;
        EXPECT_EQ(facts->stackBytes, nvccs->stackBytes) << kernel.name;
        EXPECT_EQ(facts->staticSharedBytes, nvccs->staticSharedBytes) << kernel.name;
        EXPECT_EQ(facts->barriers, nvccs->barriers) << kernel.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Files, CorpusFacts, testing::ValuesIn(corpus()), [](const auto& info) {
    auto name = info.param.parent_path().filename().string() + "_" + info.param.stem().string();
    for (auto& c : name)
        c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return name;
});

} // namespace
} // namespace kernelskill::engine
