#include "engine/inputs/trial.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace kernelskill::engine {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* saxpy = R"(
__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
void run(float a, const float* x, float* y, int size) {
    saxpy<<<(size + 255) / 256, 256>>>(a, x, y, size);
}
)";

template <typename T>
std::vector<std::byte> bytesOf(T value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

CapturedParameter pointer(std::uint64_t address, std::uint64_t bytes, const std::string& name) {
    CapturedBuffer buffer{address, bytes, "/c/data/" + name + "0", "/c/data/" + name + "1", {}};
    return {0, bytesOf(address), buffer};
}

StoredLaunch stored(CapturedLaunch launch) {
    auto kernel = kernelSymbol(launch.symbol);
    return {std::move(launch), std::move(kernel), "/c/launches/a.json"};
}

CapturedLaunch saxpyLaunch(int n = 5000) {
    CapturedLaunch launch;
    launch.symbol = "_Z5saxpyfPKfPfi";
    launch.program = "./a.out 5000";
    launch.ordinal = 2;
    launch.grid = {static_cast<std::uint32_t>((n + 255) / 256), 1, 1};
    launch.block = {256, 1, 1};
    launch.sharedBytes = 32;
    launch.parameters = {{0, bytesOf(2.5f), {}},
                         pointer(0x10000, 20000, "x"),
                         pointer(0x20000, 20480, "y"),
                         {24, bytesOf(n), {}}};
    return launch;
}

std::vector<LaunchSpec> launchesOf(const std::string& text, CapturedLaunch launch) {
    const auto model = parsedProgram(text);
    StoredCaptures captures;
    captures.launches.push_back(stored(std::move(launch)));
    auto launches = inferLaunches(model, model.kernels.at(0), LaunchTarget::Emulator, captures);
    EXPECT_TRUE(launches) << launches.error().describe();
    return launches ? std::move(*launches) : std::vector<LaunchSpec>{};
}

TEST(CapturedInference, ReplaysWhatTheProgramPassed) {
    const auto launches = launchesOf(saxpy, saxpyLaunch());
    ASSERT_FALSE(launches.empty());
    const LaunchSpec& launch = launches.front();
    EXPECT_EQ(launch.origin, LaunchOrigin::Captured);
    EXPECT_EQ(launch.grid, (Dim3{20, 1, 1}));
    EXPECT_EQ(launch.block, (Dim3{256, 1, 1}));
    EXPECT_EQ(launch.dynamicSharedBytes, 32u);
    EXPECT_EQ(scalarNamed(launch, "a")->floating, 2.5);
    EXPECT_EQ(scalarNamed(launch, "n")->integer, 5000);
    EXPECT_EQ(scalarNamed(launch, "n")->bytes, bytesOf(5000));
    const BufferSpec* x = bufferNamed(launch, "x");
    ASSERT_NE(x, nullptr);
    EXPECT_EQ(x->fill, Fill::Captured);
    EXPECT_EQ(x->elements, 5000u);
    EXPECT_EQ(x->captured,
              (CapturedBytes{"/c/data/x0", "/c/data/x1", analysis::ScalarKind::Float}));
    EXPECT_FALSE(x->isOutput);
    EXPECT_EQ(bufferNamed(launch, "y")->elements, 5120u);
    EXPECT_TRUE(bufferNamed(launch, "y")->isOutput);
    EXPECT_THAT(launch.notes, Contains("captured from './a.out 5000', launch 2 of this kernel"));
    EXPECT_GT(launches.size(), 1u) << "what the file says follows";
}

TEST(CapturedInference, ComesAfterAPin) {
    const auto launches = launchesOf(
        std::string(saxpy) + "// kernelskill: launch saxpy<<<4, 64>>>(n=256, x=rand[n], y=rand[n])",
        saxpyLaunch());
    ASSERT_GE(launches.size(), 2u);
    EXPECT_EQ(launches[0].origin, LaunchOrigin::Pinned);
    EXPECT_THAT(launches[0].notes, Contains(HasSubstr("the pin comes first")));
    EXPECT_EQ(launches[1].origin, LaunchOrigin::Captured);
}

TEST(CapturedInference, IsOfItsKernelAlone) {
    auto other = saxpyLaunch();
    other.symbol = "_Z6saxpy2fPKfPfi";
    for (const auto& launch : launchesOf(saxpy, other)) {
        EXPECT_NE(launch.origin, LaunchOrigin::Captured);
        EXPECT_THAT(launch.notes, Not(Contains(HasSubstr("captured"))));
    }
}

TEST(CapturedInference, SaysWhyItFitsNoMore) {
    auto fewer = saxpyLaunch();
    fewer.parameters.pop_back();
    auto wider = saxpyLaunch();
    wider.parameters.back().value = bytesOf(std::int64_t{5000});
    auto unknown = saxpyLaunch();
    unknown.missing = "its arguments were passed in an unknown way";
    struct Case {
        CapturedLaunch launch;
        const char* why;
    };
    for (const auto& [launch, why] : {Case{fewer, "took 3 parameters and takes 4 now"},
                                      Case{wider, "'n' had 8 bytes and has 4 now"},
                                      Case{unknown, "passed in an unknown way"}}) {
        const auto launches = launchesOf(saxpy, launch);
        ASSERT_FALSE(launches.empty());
        EXPECT_NE(launches.front().origin, LaunchOrigin::Captured);
        EXPECT_THAT(launches.front().notes,
                    Contains(AllOf(HasSubstr("'./a.out 5000' is not used"), HasSubstr(why))));
    }
}

TEST(CapturedInference, KeepsSizesWhereThereIsNoData) {
    auto launch = saxpyLaunch();
    launch.parameters[1].buffer->before.clear();
    launch.parameters[1].buffer->missing = "it is larger than 64 MiB";
    const auto launches = launchesOf(saxpy, launch);
    ASSERT_EQ(launches.front().origin, LaunchOrigin::Captured);
    const BufferSpec* x = bufferNamed(launches.front(), "x");
    EXPECT_EQ(x->fill, Fill::Random);
    EXPECT_EQ(x->elements, 5000u);
    EXPECT_THAT(launches.front().notes, Contains(HasSubstr("larger than 64 MiB")));
}

TEST(CapturedInference, PassesNullPointersOn) {
    auto launch = saxpyLaunch();
    launch.parameters[1] = {8, bytesOf(std::uint64_t{0}), {}};
    const auto launches = launchesOf(saxpy, launch);
    ASSERT_EQ(launches.front().origin, LaunchOrigin::Captured);
    EXPECT_EQ(bufferNamed(launches.front(), "x"), nullptr);
    ASSERT_NE(scalarNamed(launches.front(), "x"), nullptr);
    EXPECT_EQ(scalarNamed(launches.front(), "x")->bytes, bytesOf(std::uint64_t{0}));
}

TEST(CapturedInference, SaysWhichBuffersShareMemory) {
    auto launch = saxpyLaunch();
    launch.parameters[2] = pointer(0x10000, 20000, "x");
    EXPECT_THAT(launchesOf(saxpy, launch).front().notes,
                Contains(HasSubstr("'x' and 'y' share an allocation")));
}

TEST(CapturedInference, InstantiatesTemplatesAsTheProgramDid) {
    CapturedLaunch launch;
    launch.symbol = "_Z5scaleIdLi4EEvPT_i"; // void scale<double, 4>(double*, int)
    launch.grid = {3, 1, 1};
    launch.block = {64, 1, 1};
    launch.parameters = {pointer(0x10000, 800, "x"), {8, bytesOf(100), {}}};
    const auto launches = launchesOf(R"(
template <typename T, int N> __global__ void scale(T* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= N;
}
)",
                                     launch);
    ASSERT_EQ(launches.front().origin, LaunchOrigin::Captured);
    EXPECT_THAT(launches.front().templateArguments, ElementsAre("double", "4"));
    EXPECT_EQ(bufferNamed(launches.front(), "x")->elementBytes, 8u);
    EXPECT_EQ(bufferNamed(launches.front(), "x")->elements, 100u);
}

TEST(CapturedTrials, AreOneForEachInstantiation) {
    const char* text = R"(
template <typename T> __global__ void scale(T* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
)";
    StoredCaptures captures;
    for (const auto& [symbol, ordinal] :
         {std::pair("_Z5scaleIdEvPT_i", 1u), std::pair("_Z5scaleIdEvPT_i", 2u),
          std::pair("_Z5scaleIfEvPT_i", 1u)}) {
        CapturedLaunch launch;
        launch.symbol = symbol;
        launch.ordinal = ordinal;
        launch.grid = {3, 1, 1};
        launch.block = {64, 1, 1};
        launch.parameters = {pointer(0x10000, 800, "x"), {8, bytesOf(100), {}}};
        captures.launches.push_back(stored(std::move(launch)));
    }
    const auto original = parsedProgram(text);
    const auto candidate = parsedProgram(text);
    const auto plan = planTrials({original, original.kernels.at(0)},
                                 {candidate, candidate.kernels.at(0)}, captures);
    ASSERT_TRUE(plan) << plan.error().describe();
    std::vector<std::string> replayed;
    for (const Trial& trial : plan->trials)
        if (trial.isReplay)
            replayed.push_back(trial.original.templateArguments.at(0));
    EXPECT_THAT(replayed, ::testing::UnorderedElementsAre("double", "float"));
}

Result<LaunchSpec> edited(const std::string& before, const std::string& after,
                          CapturedLaunch launch) {
    const auto original = parsedProgram(before);
    const auto candidate = parsedProgram(after);
    StoredCaptures captures;
    captures.launches.push_back(stored(std::move(launch)));
    const auto captured = capturedLaunches(original, original.kernels.at(0), captures);
    EXPECT_THAT(captured.launches, SizeIs(1));
    return editedCapture({original, original.kernels.at(0)}, {candidate, candidate.kernels.at(0)},
                         captured.launches.at(0));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
    return text;
}

TEST(EditedCapture, KeepsTheLaunchThatAnEditKeeps) {
    const auto launch = edited(
        saxpy, replaced(saxpy, "const float* x", "const float* __restrict__ x"), saxpyLaunch());
    ASSERT_TRUE(launch) << launch.error().describe();
    EXPECT_EQ(launch->grid, (Dim3{20, 1, 1}));
    EXPECT_EQ(bufferNamed(*launch, "x")->fill, Fill::Captured);
}

TEST(EditedCapture, FollowsALaunchThatAnEditChanges) {
    auto shared = saxpyLaunch();
    shared.sharedBytes = 0;
    const auto launch = edited(
        saxpy, replaced(saxpy, "(size + 255) / 256, 256", "(size + 511) / 512, 128"), shared);
    ASSERT_TRUE(launch) << launch.error().describe();
    EXPECT_EQ(launch->grid, (Dim3{10, 1, 1}));
    EXPECT_EQ(launch->block, (Dim3{128, 1, 1}));
    EXPECT_EQ(scalarNamed(*launch, "n")->integer, 5000);
}

TEST(EditedCapture, GivesUpWhereTheLaunchDoesNotFollow) {
    auto other = saxpyLaunch();
    other.grid = {21, 1, 1}; // Another launch than the file's.
    const auto launch =
        edited(saxpy, replaced(saxpy, "(size + 255) / 256, 256", "(size + 511) / 512, 128"), other);
    ASSERT_FALSE(launch);
    EXPECT_THAT(launch.error().what, HasSubstr("do not determine"));
}

TEST(EditedCapture, GivesUpWhereOtherThingsArePassed) {
    auto pointer = replaced(saxpy, "float* y, int n)", "float* y, int n, int* more)");
    pointer = replaced(pointer, "(a, x, y, size)", "(a, x, y, size, nullptr)");
    auto exchanged = replaced(saxpy, "float* y, int n)", "int n, float* y)");
    exchanged = replaced(exchanged, "(a, x, y, size)", "(a, x, size, y)");
    for (const std::string& text : {pointer, exchanged}) {
        const auto launch = edited(saxpy, text, saxpyLaunch());
        ASSERT_FALSE(launch);
        EXPECT_THAT(launch.error().what, HasSubstr("parameters"));
    }
    auto unknown = replaced(saxpy, "float* y, int n)", "float* y, int n, int more)");
    unknown = replaced(unknown, "(a, x, y, size)", "(a, x, y, size, nobodyKnows())");
    const auto launch = edited(saxpy, unknown, saxpyLaunch());
    ASSERT_FALSE(launch);
    EXPECT_THAT(launch.error().what, HasSubstr("do not determine"));
}

TEST(EditedCapture, PassesIntegersThatAnEditAdds) {
    auto shared = saxpyLaunch();
    shared.sharedBytes = 0;
    auto text = replaced(saxpy, "float* y, int n)", "float* y, int n, unsigned short blocks)");
    text = replaced(text, "(size + 255) / 256, 256", "((size + 255) / 256 + 3) / 4, 256");
    text = replaced(text, "(a, x, y, size)", "(a, x, y, size, (size + 255) / 256)");
    const auto launch = edited(saxpy, text, shared);
    ASSERT_TRUE(launch) << launch.error().describe();
    EXPECT_EQ(launch->grid, (Dim3{5, 1, 1}));
    ASSERT_THAT(launch->arguments, SizeIs(5));
    EXPECT_EQ(scalarNamed(*launch, "blocks")->integer, 20);
    EXPECT_EQ(scalarNamed(*launch, "blocks")->bytes, bytesOf(std::uint16_t{20}));
}

/// A kernel whose grid comes from elsewhere.
std::string launchedWith(const std::string& grid, const std::string& parameter = "",
                         const std::string& argument = "") {
    return R"(
__global__ void saxpy(float a, const float* x, float* y, int n)" +
           parameter + R"() {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
dim3 gridOf(int size);
void run(float a, const float* x, float* y, int size) {
    dim3 grid = gridOf(size);
    saxpy<<<)" +
           grid + ", 256>>>(a, x, y, size" + argument + ");\n}\n";
}

TEST(EditedCapture, FollowsAGridThatOnlyTheProgramKnows) {
    auto shared = saxpyLaunch();
    shared.sharedBytes = 0;
    shared.grid = {23, 3, 1};
    const auto launch = edited(
        launchedWith("grid"),
        launchedWith("dim3((grid.x + 3) / 4, grid.y, grid.z)", ", unsigned int blocks", ", grid.x"),
        shared);
    ASSERT_TRUE(launch) << launch.error().describe();
    EXPECT_EQ(launch->grid, (Dim3{6, 3, 1}));
    EXPECT_EQ(launch->block, (Dim3{256, 1, 1}));
    EXPECT_EQ(scalarNamed(*launch, "blocks")->integer, 23);
    const auto half = edited(launchedWith("grid"),
                             launchedWith("dim3(grid.x, (grid.y + 1) / 2, grid.z)"), shared);
    ASSERT_TRUE(half) << half.error().describe();
    EXPECT_EQ(half->grid, (Dim3{23, 2, 1}));
}

TEST(EditedCapture, GivesUpWhereTemplateParametersAreAdded) {
    auto text = replaced(saxpy, "__global__", "template <int known>\n__global__");
    text = replaced(text, "saxpy<<<", "saxpy<5><<<");
    const auto launch = edited(saxpy, text, saxpyLaunch());
    ASSERT_FALSE(launch);
    EXPECT_THAT(launch.error().what, HasSubstr("other template parameters"));
}

TEST(CapturedNumbers, FollowALaunchWhoseArgumentsOnlyTheProgramCanPass) {
    const std::string text = R"(
struct View { const float* x; };
__global__ void copy(View from, float* const* to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[0][i] = from.x[i];
}
void run(View from, float** to, int size) {
    copy<<<(size + 255) / 256, 256>>>(from, to, size);
}
)";
    CapturedLaunch launch;
    launch.symbol = "_Z4copy4ViewPKPfi";
    launch.program = "./a.out";
    launch.grid = {20, 1, 1};
    launch.block = {256, 1, 1};
    launch.parameters = {{0, bytesOf(std::uint64_t{0x10000}), {}},
                         pointer(0x20000, 8, "to"),
                         {16, bytesOf(5000), {}}};
    const auto original = parsedProgram(text);
    const KernelInFile before{original, original.kernels.at(0)};
    StoredCaptures captures;
    captures.launches.push_back(stored(launch));
    EXPECT_THAT(capturedLaunches(before.file, before.kernel, captures).launches, IsEmpty());
    const auto numbers = capturedNumbers(before, stored(launch));
    ASSERT_TRUE(numbers) << numbers.error().describe();
    EXPECT_EQ(numbers->grid, (Dim3{20, 1, 1}));
    EXPECT_EQ(std::get<ScalarSpec>(numbers->arguments.at(2)).integer, 5000);
    std::string smaller = text;
    smaller.replace(smaller.find("(size + 255) / 256, 256"), 23, "(size + 63) / 64, 64");
    const auto edited = parsedProgram(smaller);
    const auto moved = editedCapture(before, {edited, edited.kernels.at(0)}, *numbers);
    ASSERT_TRUE(moved) << moved.error().describe();
    EXPECT_EQ(moved->grid, (Dim3{79, 1, 1}));
    EXPECT_EQ(moved->block, (Dim3{64, 1, 1}));
    launch.parameters.pop_back();
    EXPECT_FALSE(capturedNumbers(before, stored(launch)));
}

} // namespace
} // namespace kernelskill::engine
