#include "engine/capture/kernel_symbol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The symbols are nvcc's.
TEST(KernelSymbol, IsTakenApart) {
    const auto plain = kernelSymbol("_Z2stPfx");
    EXPECT_EQ(plain.qualifiedName, "st");
    EXPECT_THAT(plain.templateArguments, IsEmpty());
    EXPECT_EQ(kernelSymbol("plain").qualifiedName, "plain"); // extern "C"
    EXPECT_EQ(kernelSymbol("_ZN2ns1kENS_1PEP6float4").qualifiedName, "ns::k");
    EXPECT_EQ(kernelSymbol("_ZN36_GLOBAL__N__2441cbb6_4_a_cu_f3f09f126hiddenEPf").qualifiedName,
              "hidden");
}

TEST(KernelSymbol, HasTheTypesOfItsParameters) {
    EXPECT_THAT(kernelSymbol("_Z5saxpyfPKfPfi").parameterTypes,
                ElementsAre("float", "float const*", "float*", "int"));
    EXPECT_THAT(kernelSymbol("_ZN4blas5applyISt4pairIifELi2EEEvPT_").parameterTypes,
                ElementsAre("std::pair<int, float>*"));
    EXPECT_THAT(kernelSymbol("_Z5emptyv").parameterTypes, IsEmpty());
    EXPECT_THAT(kernelSymbol("plain").parameterTypes, IsEmpty());
}

TEST(KernelSymbol, TakesNamesThatAreSpelledOut) {
    const auto symbol = kernelSymbol("void ns::scale<float, (int)4>(float *, int)");
    EXPECT_EQ(symbol.qualifiedName, "ns::scale");
    EXPECT_THAT(symbol.templateArguments, ElementsAre("float", "(int)4"));
    EXPECT_EQ(kernelSymbol("f").qualifiedName, "f") << "the mangled name of float";
}

TEST(KernelSymbol, SpellsTemplateArgumentsAsTheyCanBeWritten) {
    const auto symbol = kernelSymbol("_ZN36_GLOBAL__N__2441cbb6_4_a_cu_f3f09f122tkIfLi3ELb1ELNS_"
                                     "4ModeE1ELj7EEEvPT_PKS2_");
    EXPECT_EQ(symbol.qualifiedName, "tk");
    EXPECT_THAT(symbol.templateArguments, ElementsAre("float", "3", "true", "(Mode)1", "7u"));
}

TEST(KernelSymbol, KeepsNestedArgumentsWhole) {
    // void blas::apply<std::pair<int, float>, 2>(std::pair<int, float>*)
    const auto symbol = kernelSymbol("_ZN4blas5applyISt4pairIifELi2EEEvPT_");
    EXPECT_EQ(symbol.qualifiedName, "blas::apply");
    EXPECT_THAT(symbol.templateArguments, ElementsAre("std::pair<int, float>", "2"));
}

TEST(KernelSymbol, NamesKernelsByTheirQualifiedName) {
    analysis::KernelModel kernel;
    kernel.name = "k";
    kernel.qualifiedName = "ns::k";
    EXPECT_TRUE(names(kernelSymbol("_ZN2ns1kENS_1PEP6float4"), kernel));
    EXPECT_FALSE(names(kernelSymbol("_Z1kPf"), kernel));
    EXPECT_FALSE(names(kernelSymbol("_ZN2ns1kIfEEvPT_"), kernel)); // A template.
    kernel.templateParameters.emplace_back();
    EXPECT_TRUE(names(kernelSymbol("_ZN2ns1kIfEEvPT_"), kernel));
}

} // namespace
} // namespace kernelskill::engine
