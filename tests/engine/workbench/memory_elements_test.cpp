#include "engine/workbench/memory_elements.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

MemoryElement elementOf(std::size_t parameter, const std::vector<std::string>& arguments) {
    static const auto file = parsedProgram(
        "template <typename T, int N>\n"
        "__global__ void f(T* a, const float4* b, int* c, const T* d) { a[0] = d[c[0] + N]; }\n");
    const auto& kernel = file.kernels.at(0);
    return memoryElementOf(kernel, kernel.parameters.at(parameter), arguments);
}

TEST(MemoryElements, AreThoseOfTheInstantiation) {
    struct Case {
        const char* argument;
        MemoryElement element;
    };
    for (const auto& [argument, element] :
         {Case{"float", MemoryElement::Float32}, Case{"double", MemoryElement::Float64},
          Case{"__half", MemoryElement::Float16}, Case{"__nv_bfloat16", MemoryElement::BFloat16},
          Case{"float4", MemoryElement::Float32}, Case{"double4_16a", MemoryElement::Float64},
          Case{"__half2", MemoryElement::Float16}, Case{"__nv_bfloat162", MemoryElement::BFloat16},
          Case{"int", MemoryElement::Bytes}, Case{"unsigned int", MemoryElement::Bytes},
          Case{"Particle", MemoryElement::Bytes}}) {
        EXPECT_EQ(elementOf(0, {argument, "4"}), element) << argument;
        EXPECT_EQ(elementOf(3, {argument, "4"}), element) << argument;
    }
    EXPECT_EQ(elementOf(1, {"double", "4"}), MemoryElement::Float32) << "it is what it says";
    EXPECT_EQ(elementOf(2, {"double", "4"}), MemoryElement::Bytes);
    EXPECT_EQ(elementOf(0, {}), MemoryElement::Bytes) << "not known";
}

} // namespace
} // namespace kernelskill::engine
