#include "text/internal/languages.h"

#include <algorithm>
#include <string>

namespace sibyl::text {

namespace {

// Lucene's 33, which BM25 baselines are published with.
constexpr std::string_view kEnglish =
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with";

constexpr std::string_view kGerman =
    "aber als am an auch auf aus bei bin bis bist da dann das dass dem den der des die dies diese "
    "diesem diesen dieser dieses doch du durch ein eine einem einen einer eines er es euch für hat "
    "hatte ich ihm ihn ihr ihre im in ist ja jede jedem jeden jeder jedes kann mich mir mit nach "
    "nicht noch nur ob oder ohne sehr sein seine sich sie sind so über um und uns unter vom von "
    "vor "
    "war waren was weil wenn werden wie wir wird wo zu zum zur";

constexpr std::string_view kFrench =
    "ai au aux avec ce ces cet cette comme dans de des du elle elles en est et eu il ils je la le "
    "les leur leurs lui ma mais me mes moi mon ne nos notre nous on ont ou où par pas pour qu que "
    "qui sa se ses si son sont sur ta te tes toi ton tu un une vos votre vous été être";

constexpr std::string_view kSpanish =
    "al algo como con cual cuando de del donde el ella ellas ellos en entre era es esa ese eso "
    "esta este esto estos estas está están fue ha han hasta hay la las le les lo los me mi muy más "
    "mí ni no nos o para pero por porque que quien qué se ser si sin sobre son su sus sí también "
    "te "
    "tiene tu un una uno unos y ya yo él";

constexpr std::string_view kItalian =
    "ad al alla alle allo agli ai anche c che chi ci come con cui da dal dalla dalle dei del della "
    "delle dello degli di dove e ed era gli ha hanno ho i il in io la le lei lo loro lui ma mi mia "
    "mio ne nei nel nella nelle noi non o per perché più quando quello questa questo se si sia "
    "sono "
    "su sua sue sui sul sulla suo ti tra tu un una uno vi voi è";

constexpr std::string_view kRussian =
    "а без более бы был была были было быть в вам вас во вот все всё вы где да для до его ее её "
    "если есть еще ещё же за здесь и из или им их к как когда кто ли либо мне может мы на над не "
    "нет ни них но ну о об он она они оно от по под при с со так также там то того тоже только том "
    "ты у уже чего чем что чтобы эта эти это этого этот я";

constexpr std::string_view kPortuguese =
    "a ao aos as com como da das de dela dele do dos e ela elas ele eles em entre era essa esse "
    "esta este está eu foi há isso isto já lhe mais mas me mesmo meu minha muito na nas nem no nos "
    "não o os ou para pela pelas pelo pelos por porque qual quando que quem se sem ser seu seus só "
    "sua suas são também te tem um uma você à às é";

constexpr std::string_view kDutch =
    "aan al als bij dan dat de der deze die dit doch door dus een en er ge geen haar had heb heeft "
    "hem het hier hij hoe hun ik in is ja je kan maar me meer met mij mijn na naar niet nog nu of "
    "om omdat onder ook op over te tegen toch toen tot u uit uw van voor wat we werd wie wij wil "
    "worden wordt ze zich zij zijn zo zonder zou";

constexpr std::string_view kSwedish =
    "alla att av blev bli blir de dem den denna deras dess det detta dig din du då där efter ej "
    "eller en er ett från för ha hade han har henne hennes hon honom hur här i icke inte jag kan "
    "man med men mig min mot mycket ni nu när och om oss på samma sedan sig sin skulle som så till "
    "under upp ut utan vad var vara vi vid vilken än är åt över";

constexpr std::string_view kDanish =
    "ad af alle alt at blev blive bliver da de dem den denne der deres det dette dig din dog du "
    "efter eller en end er et for fra ham han hans har havde hende hendes her hun hvad hvis hvor i "
    "ikke ind jeg jer kan man med meget men mig min mod ned nogle noget nu når og også om op os på "
    "sig sin skal skulle som sådan til ud under var vi vil ville være været";

constexpr std::string_view kNorwegian =
    "alle at av ble bli blir da de deg dem den denne der dere deres det dette din du då eller en "
    "er et ett etter for fra før ha hadde han hans har henne hennes her hos hun hva hvem hvis hvor "
    "hvordan i ikke inn jeg kan man med meg men mer min mot noe noen nå når og også om opp oss på "
    "seg selv sin skal skulle slik som så til um under ut var ved vi vil være vært å";

constexpr std::string_view kFinnish =
    "ei eivät en et ettei että he hän häneen häntä ja jo joka jos jotka kanssa kuin kun kuka me "
    "mihin mikä minkä minä missä mitä mukaan mutta myös ne niiden niin noin nyt ole olen oli "
    "olivat "
    "olla on ovat se sekä sen siellä siinä siis sillä sinä sitä tai te tuo tämä tämän tässä vai "
    "vaan vain";

constexpr std::string_view kCatalan =
    "al amb aquest aquesta com de del dels el els en entre es hi i la les més molt no o per però "
    "que "
    "quan se ser si són un una és";
constexpr std::string_view kBasque =
    "baina baino bat behar da den dira du dute egin ere eta ez hau hori izan zen";
constexpr std::string_view kIrish =
    "ach ag agus an ar as bhí do go is le leis na ní nó ó sa sin sé sí tá";
constexpr std::string_view kHungarian =
    "a az azt csak de egy ez ezt ha hogy is kell ki lesz meg mert mint még már nem vagy van volt "
    "és";
constexpr std::string_view kIndonesian =
    "ada adalah akan atau dalam dan dari dengan di ini itu juga karena ke oleh pada sudah tidak "
    "untuk yang";
constexpr std::string_view kLithuanian =
    "ar bet buvo dėl ir iš jis kad kaip nuo prie su tai taip už yra į";
constexpr std::string_view kRomanian =
    "a al ale ca care ce cu dar de din este fi fost la lui mai nu o pe pentru sau sunt să un în și";
constexpr std::string_view kTurkish =
    "ama bir bu bunu da daha de değil gibi her için ile kadar ki mi ne olan olarak sonra ve veya "
    "çok";

constexpr Language kLanguages[] = {
    {"ar", "arabic", "arabic", ""},
    {"ca", "catalan", "catalan", kCatalan},
    {"da", "danish", "danish", kDanish},
    {"de", "german", "german", kGerman},
    {"el", "greek", "greek", ""},
    {"en", "english", "english", kEnglish},
    {"es", "spanish", "spanish", kSpanish},
    {"eu", "basque", "basque", kBasque},
    {"fi", "finnish", "finnish", kFinnish},
    {"fr", "french", "french", kFrench},
    {"ga", "irish", "irish", kIrish},
    {"hi", "hindi", "hindi", ""},
    {"hu", "hungarian", "hungarian", kHungarian},
    {"hy", "armenian", "armenian", ""},
    {"id", "indonesian", "indonesian", kIndonesian},
    {"it", "italian", "italian", kItalian},
    {"ja", "japanese", "", ""},
    {"ko", "korean", "", ""},
    {"lt", "lithuanian", "lithuanian", kLithuanian},
    {"ne", "nepali", "nepali", ""},
    {"nl", "dutch", "dutch", kDutch},
    {"no", "norwegian", "norwegian", kNorwegian},
    {"pt", "portuguese", "portuguese", kPortuguese},
    {"ro", "romanian", "romanian", kRomanian},
    {"ru", "russian", "russian", kRussian},
    {"sr", "serbian", "serbian", ""},
    {"sv", "swedish", "swedish", kSwedish},
    {"ta", "tamil", "tamil", ""},
    {"th", "thai", "", ""},
    {"tr", "turkish", "turkish", kTurkish},
    {"yi", "yiddish", "yiddish", ""},
    {"zh", "chinese", "", ""},
};

}  // namespace

std::span<const Language> languages() {
  return kLanguages;
}

const Language* find_language(std::string_view code_or_name) {
  std::string wanted(code_or_name);
  std::transform(wanted.begin(), wanted.end(), wanted.begin(), [](char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + ('a' - 'A')) : byte;
  });
  for (const Language& language : kLanguages) {
    if (language.code == wanted || language.name == wanted) {
      return &language;
    }
  }
  return nullptr;
}

}  // namespace sibyl::text
