package stance

import "strings"

// The lexicons are small, English and our own. A word that ends in * stands for
// every word that begins so; the longest entry wins.

// A feeling is what a word does to what is said around it.
type feeling uint8

const (
	flat    feeling = iota
	good            // fair, useful
	bad             // costly, wrong
	negates         // turns what follows: not, never
	lessens         // turns what follows: reduces, fewer
	hinders         // the same, and is a little bad itself: impedes, lacks
	solves          // the same, and is a little good itself: overcomes
)

const goodWords = `
able abundan* acclaim* accommodat* accomplish* accountab* accurat* achiev* adapt* admir* advanc* advantag* affection* afford* affordab* agree* amaz*
ambitio* appeal* applaud* appreciat* appropriat* assist* attract* authentic* autonom* award* balanced beautif* benefi* beneficial benevolen* best
better bless* bloom* boost* brav* breakthrough bright* brillian* calm capab* cared caring celebrat* charit* cheap cheap* civilis* civiliz* clean*
cleaner clear coheren* cohes* collaborat* comfort* compassion* competen* competitiv* comprehens* confiden* conscientio* consensual* consensus conserv*
consisten* constructive* contribut* convenien* cooperat* correct* courag* creativ* credib* cultivat* cure* curious* customis* customiz* decen*
dedicat* defend* delic* delight* dependable deserv* desirable development devot* dignif* dignit* diligen* diverse diversity durab* durable eager*
earnest* easier easily easy economical effective* efficien* effortless* elegan* eloquen* emancipat* empower* enabl* enable* encourag* enhanc* enjoy*
enlight* enrich* ensur* enthusias* entrepreneur* equal* equit* essential* ethical ethically excel* excit* expert* fair fairer fairest fairly fairness
faithful famous fantastic* faster favor* favour* favourable feasib* fertil* fitness flexib* flourish* fortun* free freedom* freely fresh friend*
fruitful fulfil* fun gain* generous* genius* gentle* genuin* glor* good gracio* grateful* great greatest grow growing grows growth guarantee* handy
happi* happy harmless harmon* heal* healing healthier healthy help* heritag* heritage hero* heroic* holistic* honest* honor* honour* hope hopeful*
humane hygien* ideal* immun* immune* impartial* impeccab* important impressiv* improv* incentiv* inclusiv* indispensab* ingeni* innocent* innovat*
insight* inspir* intact integrit* intellig* invaluab* invigorat* joy* justice justif* kindness lawful* leadership legitima* legitimacy legitimate
liberali* liberalis* liberaliz* liberat* libert* lifesaving literacy lively logic* love* loyal* lucrativ* majest* marvel* mature* meaningful merci*
merit* modern* moral morally motivat* necessary nobl* nurtur* nutrit* obedien* opportun* optim* outstanding peace* perfect* pioneer* pleas* pleasant*
plentiful* plural* polite* popular posit* powerful practical pragmat* precious prefer* preserv* prestig* privileg* productiv* proficien* profit*
progress* promising* proper properly prosper* protect* proud* proven prudent* punctual* pure purif* quality rational* readines* reasonabl* reassur*
recommend* reconcil* recover* rehabilit* rejuven* reliab* renewable* renown* rescu* resilien* resourceful* respected respectful responsible
responsibly restor* revitali* revolution* reward* righteous* robust* safe* sane satisf* save saved saves saving* scalab* secur* self-defen*
self-determination selfless* sensib* sensitiv* serene* simplif* sincer* skill* smart* solution* sophisticat* sovereign* splendid* spontan* stab*
stimulat* straightforward* streamlin* strength* strong* succe* suffic* suitab* superior* suprem* surviv* sustain* sympath* talent* thorough*
thoughtful* thriv* timeless* toleran* transparen* true trust* trustworth* truthful unbiased unbreakab* understand* unif* uniqu* unity upgrad* uplift*
upright useful useful* utility vaccin* valid* valuab* valuable valued values versatil* viab* vibran* victor* vigil* virtu* vital* vivid* warm* wealthy
welcom* welfare well-being well-informed wholesome* willing* win winning wins wisdom wise wisely won wonder* worth worthwhile worthy zeal*`

const badWords = `
abandon* abnormal* absurd* abus* accident* accus* addict* adverse* affront* afraid aggress* alarm* alleg* ambigu* anger* angry annoy* antagoni*
anti-semit* antisemit* antisocial* anxi* apath* appal* arbitrar* arrogan* atroc* attack* authoritar* awful backward* bad badly bankrupt* barbar* bias*
bigot* blam* blasphem* bleed* blight* bombard* boring brib* broken brutal* bully* burden* bureaucra* cancer* carcinogen* casualt* catastroph* censor*
chao* chaos cheat* coerc* collaps* collateral collusion colonialis* complain* compulsi* condemn* conflict* confus* congest* contaminat* contradict*
controvers* corros* corrupt* cost costing costly costs coward* crash* crime crimes criminal crippl* cripple* crises crisis critici* criticis*
critique* crude cruel* cumbersome cynic* damag* danger* dead deadl* deadlock* death* debt* debunk* decay* deceit* deceiv* decept* decline* defam*
defeat* defect* deficien* deficit* deforest* degrad* dehumani* delay* delinquen* delus* demeaning dependence dependency deplet* depress* depriv*
derogat* desperat* despot* destabil* destroy* destruct* deterior* detriment* devastat* deviat* dictator* die died dies difficult* dilut* dire dirty
disadvantag* disagree* disappoint* disast* discourag* discriminat* diseas* disempower* disenfranch* disgust* dishonest* disinform* dislocat* disloyal*
dismal dismantl* dismay* disorder* dispar* displac* dispossess* disproportion* disprov* disput* disregard* disrespect* disrupt* dissatisf* distort*
distract* distress* disturb* divisive dogma* dominat* doubt* drawback* drought* drown* dubious dull dump* dysfunction* dystop* elit* endanger* enslav*
epidemic* erod* erosion* error* evict* evil* exacerbat* exaggerat* excess* excluded excludes exclusion* expensive exploit* exploitative extinct*
extort* extremis* fail* fallac* false* falsely famine* fanatic* fatal* fault* fear* filth* flaw* fool* forced forcing fragil* fraud* frighten*
frustrat* futile futilit* genocid* gloom* greed* grief* grim guilt* haphazard* harass* harder hardship* harm harmed harmful harming harms harsh* hate*
hated hatred hazard* heartless* heres* hijack* hoax* hollow homeless* homophob* horr* hostil* hunger hungry hurt* hypocri* ignor* ignoran* ill
illegal* illegit* illicit* illiter* illness* illogic* illus* imbalanc* immoral* impair* impede* imperialis* imposes imposing impossib* impoverish*
imprison* improper* inaccura* inadequa* inappropriat* incapab* incit* incompat* incompeten* inconclusive* inconsist* inconven* incorrect* indecen*
indoctrinat* ineffect* ineffici* inefficien* inequal* inequalit* inequit* infect* inferior* infidel* inflat* inflexib* inflict* infring* inhuman*
inhumane* injur* injurious* injustic* insecur* insensitiv* insidious* insignifican* instabil* insufficien* insult* insur* interfer* intermittent
interrupt* intimidat* intoleran* intrus* invad* invalid* invas* irrational* irrelevan* irresponsib* irreversib* jeopard* kill* lazy leak* lethal*
liar* lie lies lock-in loot* lose loses losing loss* lost mad malicious* malnutri* manipulat* marginali* massacr* meaningless mediocr* menac* mess
miserabl* misery misguid* misinform* misinterpret* mislead* misrepresent* mistak* mistreat* mistrust* misus* monopol* morbid* mortal* murder* myth*
naive* nazi* needless* nefarious* negat* neglect* nepotis* nightmare* nonsense* notorious* nuisanc* obes* objection* obscen* obsess* obsolet*
obstacle* obstruct* offend* offens* oppress* outdated outlaw* outrag* overcrowd* overpopul* overpric* oversimpl* overwhelm* pain* pandem* panic*
paralys* paralyz* paranoi* parasit* pathetic peril* pernicious* perpetuat* persecut* pervers* perverse* pessimis* plagu* plunder* poison* pollut* poor
poorer poorest poorly porn* poverty powerless precarious* predat* predator* prejudic* problem* profan* propagand* prostitut* provo* pseudo*
questionab* racis* rape* rapist* rebel* recession* reckless* refut* regress* repress* repugnan* resent* resettl* restrictive retaliat* retard* revenge
revolt* ridicul* rigid* riot* risk* rob robb* rotten ruin* ruthless* sabotag* sacrific* sad sadly savage* scandal* scapegoat* scar scarc* scare* scars
segregat* selfish* setback* severe severely sexis* shaky shallow shame* shock* shoddy shortage* shortcoming* sick* sin sinful sinister*
sins skeptic* slander* slave* slavery sluggish slump* smear* smuggl* sordid* spam* spill* squalor* stagnant stagnat* stale starv* steal* stereotyp*
stigma* strain* stress* stuck stupid* subjugat* subservien* subvert* suffer* suicid* superstit* suppress* suspect suspicio* taboo* tedious* tension*
terribl* terrif* terror* theft* threat* thug* tortur* totalitarian* toxic* tragedy tragic* trap* trauma* treacher* trick* trivial* trivialis* troubl*
turmoil* tyran* ugly unabl* unaccept* unaccountab* unaffordab* unaware* unbalanced unbearabl* uncertain* unclear* unconstitutional* undemocrat*
undermin* undesir* undesirabl* uneasy unemploy* unequal* unethic* uneven unfair* unfavor* unfit* unfortunat* unfounded unfriendly ungovern* ungrateful
unhapp* unhealth* unjust* unlawful unlawful* unlikely unlivab* unnatural unnatural* unnecess* unpopular* unpredict* unproductiv* unprofit* unproven*
unreal* unreason* unreliab* unsafe unscientific unscrupul* unsound unstable unsuccess* unsuit* unsustain* untrue unwanted unwelcome unwilling* unwise
upheaval* upset* useless* vague* vandal* vengeful* vicious* victim* vilif* violat* violen* volatil* vulgar* vulnerab* war warfare warn* wars wast*
wasteful* weak* weird* woeful* worr* worse* worsen* worst* worthless* wound* wreck* wrong* xenophob*`

const negators = `
ain't aren't barely can't cannot couldn't didn't doesn't don't hadn't hardly hasn't haven't isn't neither never no nobody none nor not nothing nowhere
rarely scarcely seldom shouldn't unlike wasn't weren't without won't wouldn't`

const lessening = `
abat* against avoid* combat* counteract* curb* cuts cutting decreas* deter deter* deterr* deters diminish* eas* eliminat* ending ends fewer fight*
less lessen* lower* minimi* prevent* reduc* remov* shrink* stop stopped stopping stops`

const hindering = `
block* curtail* halt* hamper* hinder* imped* inhibit* lack* restrict* stifl* weaken*`

const solving = `
allay* alleviat* avert* eradicat* escap* mitigat* outlast* outperform* outweigh* overcom* reliev* remed* resolv* solv* tackl*`

// robbing words turn what is good behind them: "violates rights".
const robbing = `
absence abus* attack* damag* denied denies deny depriv* destroy* destruct* disregard* endanger* erod* harm* infring* interfer* jeopard* limit limiting
limits lose loses loss* lost oppos* threat* undermin* violat*`

// siding and opposing words take a position: "would build", "should be banned".
const siding = `
accept* adopt* advoca* affirm* agree* allow* approv* assist* authoris* authoriz* backed backing build* choose* confirm* defend* demonstrat* embrac*
encourag* endors* enforc* establish* expand* favor* favour* foster* fund* grant* implement* increas* introduc* invest* justif* legali* legitimi*
maintain* pass passed permit* prefer* promot* propos* prov* rais* ratif* recommend* right strengthen* subsidi* support* unleash* uphold* valid* verif*
welcom*`

const opposing = `
abandon* abolish* ban banned banning bans bar barred censor* challeng* condemn* contradict* contrary criminal* criminali* critici* debunk* decreas*
denies disagree* disapprov* disband* discourag* discredit* dismantl* dismiss* disprov* disput* eliminat* end ending forbad* forbid* halt* harmful
limit limiting objected oppos* outlaw* prevent* prohibit* punish* questioned rebut* reduc* refus* refut* reject* remov* repeal* resist*
restrict* revok* stop stopping suspend* undermin* veto* withdraw* wrong`

// demands are words of opinions, being those that lead to a judgement.
var (
	demands = set(`should shouldn't must mustn't ought shall would wouldn't believe believes think thinks argue argues claim claims opinion justified unjustified deserve deserves`)
	being   = set(`is isn't are aren't was wasn't were weren't be been being seems remains`)
)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// opposites are pairs that cannot both hold of one thing.
var opposites = pairs(`increas*/decreas* increas*/reduc* increas*/declin* rais*/lower* rise*/fall* rising/falling grow*/shrink* more/less more/fewer higher/lower high/low better/worse best/worst good/bad ban*/allow* banned/permitted banned/legal
	prohibit*/permit* prohibit*/allow* forbid*/allow* forbid*/permit* legal*/illegal* safe/dangerous safe/unsafe harmful/harmless harmful/beneficial harm*/benefi* help*/harm* help*/hurt* improv*/worsen* strengthen*/weaken* support*/oppos* accept*/reject*
	true/false right/wrong correct/incorrect correct/wrong always/never all/none everyone/nobody effective/ineffective efficient/inefficient necessary/unnecessary fair/unfair just/unjust moral/immoral possible/impossible likely/unlikely stable/unstable
	able/unable success*/fail* gain*/los* win*/lose* start*/stop* open/closed public/private strong/weak rich/poor cheap/expensive fast/slow faster/slower hot/cold healthy/unhealthy positive/negative presence/absence present/absent before/after
	confirm*/refut* prove*/disprove* creat*/destroy* protect*/endanger* encourag*/discourag* include*/exclude* include*/omit* common/rare easy/difficult easy/hard simple/complex enable*/prevent* enable*/disable* cause*/prevent* important/unimportant
	significant/insignificant reliable/unreliable proven/unproven popular/unpopular`)

// phrases that name a relation, with the words that follow them.
var (
	citing   = list(`according to|as reported by|as reported in|as shown by|as shown in|as cited in|cited in|cites|quoted in|reported by|reported in|as described in|as described by|as stated in|see also the paper|as noted by|published in|in the words of`)
	deriving = list(`derived from|derives from|based on|builds on|built on|adapted from|follows from|inspired by|extracted from|taken from|summary of|excerpt from|translation of|generalises|generalizes|draws on|extends`)
	holding  = list(`part of|a component of|component of|a chapter of|chapter of|a section of|section of|a member of|member of|belongs to|a kind of|kind of|a type of|type of|a form of|form of|an example of|example of|an instance of|instance of|subset of|a step in|step in|a stage of|included in|a branch of|branch of|a subfield of|subfield of|contained in`)
	causing  = list(`causes|caused|causing|leads to|lead to|led to|leading to|results in|result in|resulted in|resulting in|brings about|gives rise to|gave rise to|triggers|triggered|produces|induces|induced|is responsible for|contributes to|contribute to|contributed to|drives|makes people`)
	caused   = list(`because of|due to|caused by|as a result of|owing to|thanks to|the result of|resulting from|triggered by|driven by`)
	backing  = list(`supports|supported by|shows that|show that|showed that|found that|finds that|suggests that|indicates that|demonstrated that|proved that|shown that|confirms|confirmed|corroborates|evidence for|evidence that|proof that|proves|demonstrates that|consistent with|in line with|in agreement with|agrees with|in favour of|in favor of|as predicted|validates|verifies|in support of`)
	clashing = list(`contradicts|contradict|contrary to|refutes|refuted|disproves|disproved|debunks|no evidence|little evidence|lack of evidence|inconsistent with|conflicts with|in conflict with|disagrees with|disagree with|opposes|opposed to|argues against|argue against|evidence against|at odds with|unlike|in contrast to|fails to support|failed to replicate|does not support|do not support|did not find|is a myth|not true|is false|is wrong|challenges the|casts doubt on|rejects|rejected`)
)

func list(s string) [][]string {
	var out [][]string
	for p := range strings.SplitSeq(s, "|") {
		out = append(out, strings.Fields(p))
	}
	return out
}

func pairs(s string) [][2]string {
	var out [][2]string
	for p := range strings.FieldsSeq(s) {
		a, b, _ := strings.Cut(p, "/")
		out = append(out, [2]string{a, b})
	}
	return out
}
