#include "text/analyzer.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sibyl::text {
namespace {

std::vector<Term> terms_of(std::string_view language, std::string_view text) {
  const auto analyzer = Analyzer::create(language);
  EXPECT_TRUE(analyzer);
  std::vector<Term> terms;
  (*analyzer)->analyze(text, terms);
  return terms;
}

std::string joined(std::string_view language, std::string_view text) {
  std::string all;
  for (const Term& term : terms_of(language, text)) {
    all += (all.empty() ? "" : " ") + term.text;
  }
  return all;
}

// Expected terms: lower case, \b\w\w+\b of Python's re, 33 stop words, snowballstemmer's English.
TEST(Analyzer, EnglishFollowsThePublishedBaseline) {
  EXPECT_EQ(joined("en", "The quick brown foxes are jumping over the lazy dogs"),
            "quick brown fox jump over lazi dog");
  EXPECT_EQ(joined("en", "It's a U.S. state-of-the-art C3PO, x y z 42 7"), "state art c3po 42");
  EXPECT_EQ(joined("en", "snake_case __init__ naïve Café"), "snake_cas __init__ naïv café");
  EXPECT_EQ(joined("english", "generously organisations' skies dying"), "generous organis sky die");
  EXPECT_EQ(joined("en", ""), "");
  EXPECT_EQ(joined("en", " \t\n.,;"), "");
}

TEST(Analyzer, TermsKnowTheirBytes) {
  const std::string text = "Die Häuser, große 北京市 x";
  const auto terms = terms_of("de", text);
  ASSERT_EQ(terms.size(), 4u);
  EXPECT_EQ(text.substr(terms[0].begin, terms[0].end - terms[0].begin), "Häuser");
  EXPECT_EQ(terms[0].text, "haus");
  EXPECT_EQ(terms[2].text, "北京");
  EXPECT_EQ(text.substr(terms[3].begin, terms[3].end - terms[3].begin), "京市");
}

TEST(Analyzer, OtherLanguagesStemAndDropTheirStopWords) {
  EXPECT_EQ(joined("fr", "les chevaux de la maison"), "cheval maison");
  EXPECT_EQ(joined("es", "las casas de los niños"), "cas niñ");
  EXPECT_EQ(joined("it", "le case della città"), "cas citt");
  EXPECT_EQ(joined("ru", "Книги в библиотеках"), "книг библиотек");
  EXPECT_EQ(joined("sv", "flickorna och pojkarna"), "flick pojk");
  EXPECT_EQ(joined("none", "The foxes"), "the foxes");
}

TEST(Analyzer, ScriptsWithoutSpacesBecomeBigrams) {
  EXPECT_EQ(joined("zh", "我爱北京"), "我爱 爱北 北京");
  EXPECT_EQ(joined("en", "iPhone手机3"), "iphon 手机");
  EXPECT_EQ(joined("ja", "東京タワー"), "東京 京タ タワ ワー");
  EXPECT_EQ(joined("zh", "人。"), "人") << "a lone character stays";
  EXPECT_EQ(joined("ko", "서울의 날씨"), "서울의 날씨") << "Korean has spaces";
}

TEST(Analyzer, MarksBelongToWordsOutsideEnglish) {
  EXPECT_EQ(joined("none", "cafe\u0301"), "café") << "composed";
  EXPECT_EQ(joined("none", "हिन्दी"), "हिन्दी");
}

TEST(Analyzer, GreekFinalSigma) {
  EXPECT_EQ(joined("none", "ΟΔΟΣ ΣΑΣ"), "οδος σας");
}

TEST(Analyzer, SurvivesHostileText) {
  EXPECT_EQ(joined("en", "caf\xC3\x28 \xFF\xFE ok\x80ok"), "caf ok ok");
  const auto terms = terms_of("en", std::string(100000, 'a') + " b");
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0].text.size(), 255u);
  EXPECT_EQ(terms[0].end, 100000u);
}

TEST(Analyzer, UnknownLanguageIsRefusedWithTheKnownOnes) {
  const auto analyzer = Analyzer::create("klingon");
  ASSERT_FALSE(analyzer);
  EXPECT_EQ(analyzer.error().code, Code::InvalidConfig);
  EXPECT_NE(analyzer.error().message.find("'klingon'"), std::string::npos);
  EXPECT_NE(analyzer.error().message.find("de (german)"), std::string::npos);
  EXPECT_EQ((*Analyzer::create("German"))->language(), "de");
}

// libstemmer's objects are not thread-safe.
TEST(Analyzer, IsSafeToShareBetweenThreads) {
  const auto analyzer = *Analyzer::create("en");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int& count : wrong) {
    threads.emplace_back([&analyzer, &count] {
      std::vector<Term> terms;
      for (int i = 0; i < 2000; ++i) {
        analyzer->analyze("generously jumping foxes", terms);
        count += terms.size() == 3 && terms[1].text == "jump" ? 0 : 1;
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(GuessLanguage, TellsByStopWordsAndScript) {
  EXPECT_EQ(guess_language("Der Hund und die Katze sind nicht in dem Haus, das wir sehen."), "de");
  EXPECT_EQ(guess_language("Le chat est dans la maison avec les enfants et nous"), "fr");
  EXPECT_EQ(guess_language("El perro está en la casa con los niños y no quiere salir"), "es");
  EXPECT_EQ(guess_language("Il gatto è nella casa con i bambini e non vuole uscire"), "it");
  EXPECT_EQ(guess_language("O gato não está em casa com as crianças e os pais"), "pt");
  EXPECT_EQ(guess_language("De hond en de kat zijn niet in het huis van mijn vader"), "nl");
  EXPECT_EQ(guess_language("Hunden och katten är inte i huset som vi har"), "sv");
  EXPECT_EQ(guess_language("Где находится библиотека?"), "ru");
  EXPECT_EQ(guess_language("北京市的天气怎么样"), "zh");
  EXPECT_EQ(guess_language("東京タワーはどこですか"), "ja");
  EXPECT_EQ(guess_language("서울의 날씨"), "ko");
  EXPECT_EQ(guess_language("The dog and the cat are not in the house"), "en");
  EXPECT_EQ(guess_language(""), "en");
  EXPECT_EQ(guess_language("12345 !!!"), "en");
  EXPECT_EQ(guess_language("Berlin Paris Roma"), "en");
}

}  // namespace
}  // namespace sibyl::text
