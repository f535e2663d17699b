/// Orders of the products of an einsum.
#include "engine/graph/lowering/einsum_path.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

/// "0*1->ab": the places of what is multiplied, and the product's letters.
std::vector<std::string> stepsOf(const std::vector<EinsumOperand>& operands,
                                 const std::string& result, const std::map<char, double>& extents) {
    std::vector<std::string> texts;
    for (const EinsumStep& step : einsumPath(operands, result, extents))
        texts.push_back(std::to_string(step.left) + "*" + std::to_string(step.right) + "->" +
                        step.letters);
    return texts;
}

using Steps = std::vector<std::string>;
const std::map<char, double> square{{'a', 64}, {'b', 64}, {'c', 64}, {'d', 64}};

TEST(EinsumPath, MultipliesTwoOperandsAtOnce) {
    EXPECT_EQ(stepsOf({{"ab"}, {"bc"}}, "ac", square), Steps{});
}

TEST(EinsumPath, MultipliesAChainOfMatricesOneAfterTheOther) {
    EXPECT_EQ(stepsOf({{"ab"}, {"bc"}, {"cd"}}, "ad", square), Steps{"0*1->ac"});
    // A vector at the end is first: 2 * 64 * 64 terms in place of 64 ^ 3.
    EXPECT_EQ(stepsOf({{"ab"}, {"bc"}, {"c"}}, "a", square), Steps{"1*2->b"});
}

TEST(EinsumPath, MultipliesWeightsFirstWhatEverTheyCost) {
    const std::map<char, double> fewRows{{'a', 2}, {'b', 64}, {'c', 64}, {'d', 64}};
    EXPECT_EQ(stepsOf({{"ab"}, {"bc"}, {"cd"}}, "ad", fewRows), Steps{"0*1->ac"});
    EXPECT_EQ(stepsOf({{"ab"}, {"bc", true}, {"cd", true}}, "ad", fewRows), Steps{"1*2->bd"});
}

TEST(EinsumPath, LeavesWhatStepsDoNotHalve) {
    // A factor without letters of its own costs nothing where the others are multiplied.
    EXPECT_EQ(stepsOf({{"ab"}, {"bc"}, {"b"}}, "ac", square), Steps{});
    EXPECT_EQ(stepsOf({{"ab"}, {"ab"}, {"ab"}}, "ab", square), Steps{});
}

TEST(EinsumPath, KeepsLettersThatOthersHave) {
    // A chunk of a state-space model: scores of c and b, their decay, and what they weigh.
    const std::map<char, double> extents{{'b', 8}, {'c', 2},  {'l', 64}, {'s', 64},
                                         {'h', 8}, {'n', 16}, {'p', 64}};
    EXPECT_EQ(stepsOf({{"bclhn"}, {"bcshn"}, {"bhcls"}, {"bcshp"}}, "bclhp", extents),
              Steps{"0*1->bclhs"})
        << "n is summed, and the decay multiplies what is there";
}

TEST(EinsumPath, GivesUpOnManyOperands) {
    const std::vector<EinsumOperand> many(7, EinsumOperand{"ab"});
    EXPECT_EQ(stepsOf(many, "a", square), Steps{});
}

} // namespace
} // namespace kernelskill::engine::graph
