(function(w,q,m){w.Waylink&&Waylink.init||(m=w.Waylink={q:q=[],getAttribution:function(){return null},hasConsent:function(){
return!1}},'init trackLead trackConversion trackEvent whenAttributed identify grantConsent denyConsent trackPageView'.split(' ').map(
function(n,i){m[n]=function(){var a=arguments,p=new Promise(function(r){q.push([n,a,r])});if(i<5)return p}}))})(window)
