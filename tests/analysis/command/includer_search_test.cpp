#include "analysis/command/includer_search.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace kernelskill::analysis {
namespace {

using kernelskill::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* header =
    "__global__ void __launch_bounds__(256) scale(float* x) { x[0] = 1; }\n";
constexpr const char* launcher = "#include \"k.cuh\"\nvoid run(float* x) { scale<<<1, 1>>>(x); }\n";

class IncluderSearch : public ::testing::Test {
protected:
    void write(const std::string& name, const std::string& text) const {
        const auto path = folder_.path() / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    [[nodiscard]] Includers search(const std::string& name = "k.cuh") const {
        return findIncluders({folder_.path() / name, header, folder_.path(), listed_, &unsaved_});
    }

    [[nodiscard]] std::vector<std::string> namesOf(const Includers& found) const {
        std::vector<std::string> names;
        for (const auto& source : found.sources)
            names.push_back(source.lexically_relative(folder_.path()).string());
        return names;
    }

    [[nodiscard]] std::vector<std::string> found(const std::string& name = "k.cuh") const {
        return namesOf(search(name));
    }

    TemporaryFolder folder_;
    std::vector<std::filesystem::path> listed_;
    std::map<std::string, std::string> unsaved_;
};

TEST_F(IncluderSearch, FindsWhatIncludesItDirectlyOrThroughHeaders) {
    write("k.cuh", header);
    write("wrap.h", "#include \"k.cuh\"\n");
    write("src/main.cu", "#include \"../wrap.h\"\n");
    EXPECT_THAT(found(), ElementsAre("src/main.cu"));
}

TEST_F(IncluderSearch, FindsHeadersOfFoldersThatAnIncludePathNames) {
    write("include/kernels/k.cuh", header);
    write("src/main.cu", "#include <kernels/k.cuh>\n");
    write("src/other.cu", "#include <elsewhere/k.cuh>\n");
    EXPECT_THAT(found("include/kernels/k.cuh"), ElementsAre("src/main.cu"));
}

TEST_F(IncluderSearch, PrefersTheDatabaseThenLaunchesThenCudaThenTheNearest) {
    write("lib/k.cuh", header);
    write("lib/plain.cu", "#include \"k.cuh\"\n");
    write("lib/host.cpp", "#include \"k.cuh\"\n");
    write("apps/far.cu", "#include \"../lib/k.cuh\"\nvoid run(float* x) { scale<<<1, 1>>>(x); }\n");
    write("lib/near.cu", launcher);
    EXPECT_THAT(found("lib/k.cuh"),
                ElementsAre("lib/near.cu", "apps/far.cu", "lib/plain.cu", "lib/host.cpp"));
    listed_ = {folder_.path() / "lib/plain.cu"};
    EXPECT_EQ(found("lib/k.cuh").front(), "lib/plain.cu");
}

TEST_F(IncluderSearch, PassesOverCommentsPartsOfOthersAndBuildFolders) {
    write("k.cuh", header);
    write("comment.cu", "// #include \"k.cuh\"\n/*\n#include \"k.cuh\"\n*/\n");
    write("build/copy.cu", "#include \"../k.cuh\"\n");
    write("part.cu", "#include \"k.cuh\"\n");
    write("whole.cu", "#include \"part.cu\"\n");
    EXPECT_THAT(found(), ElementsAre("whole.cu"));
}

TEST_F(IncluderSearch, TheEditorsTextCountsAndNotTheOneOnDisk) {
    write("k.cuh", header);
    write("a.cu", launcher);
    write("b.cu", "");
    unsaved_[(folder_.path() / "a.cu").string()] = "";
    unsaved_[(folder_.path() / "b.cu").string()] = launcher;
    EXPECT_THAT(found(), ElementsAre("b.cu"));
}

TEST_F(IncluderSearch, LooksNowhereOutsideOfTheFolder) {
    write("inner/k.cuh", header);
    write("main.cu", "#include \"inner/k.cuh\"\n");
    listed_ = {folder_.path() / "main.cu"};
    EXPECT_THAT(findIncluders({folder_.path() / "inner/k.cuh", header, folder_.path() / "inner",
                               listed_, nullptr})
                    .sources,
                IsEmpty());
    EXPECT_THAT(
        findIncluders({folder_.path() / "inner/k.cuh", header, {}, listed_, nullptr}).sources,
        IsEmpty());
}

TEST_F(IncluderSearch, FilesThatIncludeEachOtherEndTheSearch) {
    write("k.cuh", header);
    write("a.h", "#include \"b.h\"\n#include \"k.cuh\"\n");
    write("b.h", "#include \"a.h\"\n");
    write("main.cu", "#include \"b.h\"\n");
    EXPECT_THAT(found(), ElementsAre("main.cu"));
}

TEST_F(IncluderSearch, TellsTheWordsOfTheOtherSources) {
    write("k.cuh", header);
    write("shared.h", "void sharedHelper();\n");
    write("own.h", "void ownHelper();\n");
    write("a.cu", std::string("#include \"shared.h\"\n") + launcher);
    write("b.cu", "#include \"k.cuh\"\n#include \"shared.h\"\n#include \"own.h\"\n"
                  "#define LAUNCH scale\n");
    const Includers includers = search();
    ASSERT_THAT(namesOf(includers), ElementsAre("a.cu", "b.cu"));
    const auto others = includers.others(0);
    ASSERT_EQ(others.size(), 1u);
    EXPECT_EQ(others.front().file, (folder_.path() / "b.cu").string());
    EXPECT_TRUE(others.front().words.contains("ownHelper"));
    EXPECT_TRUE(others.front().words.contains("scale")) << "macros can launch, too";
    EXPECT_FALSE(others.front().words.contains("sharedHelper"));
}

} // namespace
} // namespace kernelskill::analysis
