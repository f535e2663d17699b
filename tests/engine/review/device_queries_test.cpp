#include "engine/review/host/device_queries.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

bool isQuery(const std::string& text) {
    return deviceQueries(text).contains("blocks");
}

bool asks(const std::string& body, const std::string& parameters = "int threads") {
    return isQuery("int last;\n#define ASK(x) record(x)\nstatic int blocks(" + parameters + ") {" +
                   body + "}\nvoid run() {}\n");
}

TEST(DeviceQueries, MayUseVariablesOfTheirOwn) {
    EXPECT_TRUE(asks("int device, all; cudaGetDevice(&device); "
                     "cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, device); "
                     "return all * 4;"));
    EXPECT_TRUE(
        asks("cudaDeviceProp found; cudaGetDeviceProperties(&found, 0); const unsigned int n "
             "= found.multiProcessorCount; return min(n, 8u);"));
    EXPECT_TRUE(asks("int n(4); n += 2; ++n; if (n > threads) threads = n; return threads--;"));
    EXPECT_TRUE(asks("int n; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, 128, 0); "
                     "return n;",
                     "Kernel kernel"));
}

TEST(DeviceQueries, ChangeNothingElse) {
    EXPECT_FALSE(asks("last = 4; return last;"));
    EXPECT_FALSE(asks("int n = 4; last = n; return n;"));
    EXPECT_FALSE(asks("int n = 4; last++; return n;"));
    EXPECT_FALSE(asks("int n = 4; n = ++last; return n;"));
    EXPECT_FALSE(asks("*threads = 4; return 4;", "Pointer threads"));
    EXPECT_FALSE(asks("if (threads > 4) return 4; else count(); return 8;"));
    EXPECT_FALSE(asks("kernel(4); return 4;", "Kernel kernel"));
    EXPECT_FALSE(asks("while (threads) threads = 1; return 4;"));
    EXPECT_FALSE(asks("cudaGetDevice(&last); return last;"));
    EXPECT_FALSE(asks("static int calls = 0; return ++calls;"));
    EXPECT_FALSE(asks("count(); return 4;"));
    EXPECT_FALSE(asks("ASK(4); return 4;"));
    EXPECT_FALSE(asks("kernel<<<1, 1>>>(); return 4;"));
    EXPECT_FALSE(asks("cudaSetDevice(1); return 4;"));
    EXPECT_FALSE(asks("cudaDeviceSynchronize(); return 4;"));
    EXPECT_FALSE(asks("threads = 4; return 4;", "int& threads"));
    EXPECT_FALSE(asks("*threads = 4; return 4;", "int* threads"));
    EXPECT_FALSE(asks("int* p = (int*)8; *p = 4; return 4;"));
}

TEST(DeviceQueries, AreDefinedOnceInTheFile) {
    EXPECT_FALSE(isQuery("int blocks();"));
    EXPECT_FALSE(isQuery("int blocks(int) { return 1; }\nint blocks(float) { return 2; }"));
    EXPECT_FALSE(isQuery("#define blocks(n) launch(n)\nint f() { return 1; }"));
    EXPECT_FALSE(isQuery(""));
}

} // namespace
} // namespace kernelskill::engine
